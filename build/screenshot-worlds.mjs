// The worlds that the pictures of the page show, prepared over HTTP.

const PEOPLE = ['Asha Rao', 'Vikram Shah', 'Meera Iyer', 'Imran Khan', 'Divya Nair'];
const AT_ONCE = 50;

/** A payout of a payroll, by its number. */
const salary = (nth) => ({
  client_ref_id: `salary-${String(nth).padStart(3, '0')}`,
  beneficiary_name: PEOPLE[nth % PEOPLE.length],
  beneficiary_account: `0001234${String(5000 + nth)}`,
  beneficiary_ifsc: 'SBIN0000001',
  amount: 6_000 + 1_250.5 * (nth % 7),
  transfer_mode: nth % 3 === 0 ? 'NEFT' : 'IMPS',
});

/** A world nobody has used yet. */
export async function newWorld() {}

/** A world with one payout that has settled. */
export async function firstPayout(world) {
  await world.pay(salary(1));
  await world.clock.advance('1m');
}

/** A payroll whose service fails now and then; its client pays again under a new reference when it sees a 500. */
export async function badDay(world) {
  await world.use({
    description: 'One NEFT in five fails, one IMPS in eight is reversed, and a response is lost now and then',
    outcomes: [
      {
        match: { transfer_mode: 'NEFT' },
        weighted: [
          { weight: 4, timeline: [{ to: 'SUCCESS', after: '40m' }] },
          { weight: 1, timeline: [{ to: 'FAILED', after: '25m' }] },
        ],
      },
      {
        match: { transfer_mode: 'IMPS' },
        weighted: [
          { weight: 7, timeline: [{ to: 'SUCCESS', after: '5s' }] },
          {
            weight: 1,
            timeline: [
              { to: 'SUCCESS', after: '5s' },
              { to: 'REVERSED', after: '2h' },
            ],
          },
        ],
      },
    ],
    rules: [
      {
        name: 'lost-response',
        match: { route: 'initiate', payout: [7, 13], attempt: 1 },
        effect: { commit: true, respond: 500 },
      },
    ],
    wallet: { opening_balance: 500_000 },
  });
  for (let nth = 1; nth <= 16; nth += 1) {
    const { status } = await world.pay(salary(nth));
    if (status === 500)
      await world.pay({ ...salary(nth), client_ref_id: `${salary(nth).client_ref_id}-again` });
    await world.clock.advance('11m');
  }
  await world.fund(50_000);
  await world.referee({ intent: 'beneficiary_account' });
}

/** Five thousand payouts over eight hours. */
export async function manyPayouts(world) {
  await world.fund(99_000_000);
  for (let nth = 1; nth <= 5000; nth += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => world.pay(salary(nth + more))));
    await world.clock.advance('5m');
  }
}

/** A payout that is reversed three days after it succeeded, seen after that. */
export async function threeDaysLater(world) {
  for (let nth = 1; nth <= 4; nth += 1) {
    await world.pay({ ...salary(nth), ...(nth === 2 ? { beneficiary_account: '9999200004' } : {}) });
    await world.clock.advance('20m');
  }
  await world.clock.advance('3d');
}

const PATIENCE_MS = 500;
const BREAKS = 9;

/** The payouts of a client that sends again or asks whenever it got no good response, but pays the last one under a new reference. */
export async function careful(world) {
  await world.referee({ intent: 'beneficiary_account' });
  for (let nth = 1; nth <= BREAKS; nth += 1) {
    const payout = salary(nth);
    await world.pay(payout, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined);
    const reference = nth === BREAKS ? `${payout.client_ref_id}-again` : payout.client_ref_id;
    if (nth !== BREAKS - 2) await world.pay({ ...payout, client_ref_id: reference });
  }
}
