import unittest

from payout_client import PayoutClient
from sandbox_world import World

SALARY = {
    "client_ref_id": "salary-2026-01-asha",
    "beneficiary_name": "Asha Rao",
    "beneficiary_account": "000123456789",
    "beneficiary_ifsc": "SBIN0000001",
    "amount": 50_000,
    "transfer_mode": "NEFT",
}


class PayoutTest(unittest.TestCase):
    def setUp(self):
        self.world = World(name=self.id())  # a new key: nothing to clean up
        self.client = PayoutClient(self.world.url, self.world.api_key)

    def tearDown(self):
        self.world.expect_good_conduct(intent={"client_ref_id": "^(salary-[0-9-]+[a-z]+)"})

    def test_a_salary_is_paid_once_although_the_first_response_never_came(self):
        self.world.rule(
            name="lost-response",
            match={"route": "initiate", "attempt": 1},
            effect={"commit": True, "fault": "hang"},
        )
        self.assertEqual(self.client.pay(SALARY)[0], 200)
        self.assertEqual(self.world.balance(), 950_000)
        self.world.verify(sequence=[{"fault": "hang", "committed": True}, {"status": 200, "replayed": True}])

    def test_the_status_is_read_when_every_initiate_gets_an_error(self):
        self.world.rule(match={"route": "initiate"}, effect={"commit": True, "respond": {"status": 500}})
        self.assertEqual(self.client.pay(SALARY)[1]["data"]["status"], "PENDING")
        self.assertEqual(self.world.balance(), 950_000)

    def test_a_payout_settles_when_the_clock_says_so(self):
        self.world.freeze()
        self.client.pay(SALARY)
        self.world.advance("19s")
        self.assertEqual(self.client.status(SALARY["client_ref_id"])["status"], "PENDING")
        (change,) = self.world.advance("1s")
        self.assertEqual((change["from"], change["to"]), ("PENDING", "SUCCESS"))
        self.assertEqual(self.client.status(SALARY["client_ref_id"])["utr"], change["utr"])

    def test_a_refusal_is_not_sent_again(self):
        self.world.rule(match={"route": "initiate"}, times=1, effect={"respond": {"status": 402}})
        self.assertEqual(self.client.pay(SALARY)[0], 402)
        self.world.verify(match={"route": "initiate"}, count={"exactly": 1})
        self.assertEqual(self.world.balance(), 1_000_000)
