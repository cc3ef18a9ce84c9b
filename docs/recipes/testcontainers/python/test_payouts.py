import json
import unittest
import urllib.request
import uuid

from testcontainers.core.container import DockerContainer
from testcontainers.core.waiting_utils import wait_for_logs

ORDER = {
    "client_ref_id": "order-1",
    "beneficiary_name": "Asha Rao",
    "beneficiary_account": "000123456789",
    "beneficiary_ifsc": "SBIN0000001",
    "amount": 1500.50,
    "transfer_mode": "IMPS",
}


class PayoutTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.container = (
            DockerContainer("payout-sandbox").with_exposed_ports(3000).with_env("SANDBOX_CLOCK", "2026-01-15T10:30:00Z")
        )
        cls.container.start()
        cls.addClassCleanup(cls.container.stop)
        wait_for_logs(cls.container, "payout sandbox ready", timeout=30)
        cls.url = f"http://{cls.container.get_container_host_ip()}:{cls.container.get_exposed_port(3000)}"

    def setUp(self):
        self.key = f"sk_test_{uuid.uuid4().hex}"  # a fresh world

    def send(self, path, body):
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def test_a_payout_settles_when_the_clock_says_so(self):
        self.send("/payout/initiate", ORDER)
        (change,) = self.send("/_sandbox/clock/advance", {"by": "2s"})["changes"]
        self.assertEqual(change["to"], "SUCCESS")
