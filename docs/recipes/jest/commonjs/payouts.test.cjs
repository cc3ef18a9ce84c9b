const { hunt, startSandbox } = require('payout-sandbox');

let sandbox, world;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
});
afterAll(() => sandbox.close());

beforeEach(() => {
  world = sandbox.world(); // a new key: no other test sees its world
});
// a reference says which payout it is for: another one for the same order would pay twice
const intent = { client_ref_id: '^(order-[0-9]+)' };
// whatever a test looks at, it fails if the client did something that could cost money
afterEach(() => world.expectGoodConduct({ failOn: 'warning', intent }));

/** The client under test: yours. */
async function pay({ url, apiKey }, payout) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/payout/initiate`, {
    method: 'POST',
    headers,
    body: JSON.stringify(payout),
    signal: AbortSignal.timeout(2000), // a request that hangs would hang forever
  });
  return response.json();
}

const order = {
  client_ref_id: 'order-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
};

test('a payout settles when the clock is advanced', async () => {
  expect(await pay(world, order)).toMatchObject({ data: { status: 'PENDING' } });
  const { changes } = await world.clock.advance('2s');
  expect(changes).toMatchObject([{ from: 'PENDING', to: 'SUCCESS' }]);
  expect(await world.balance()).toBe(998_499.5);
});

test('no single failure of the service makes the client pay twice', async () => {
  const { findings } = await hunt({ run: (world) => pay(world, order), goals: ['paid-twice'], depth: 1 });
  expect(findings).toEqual([]);
}, 60_000);
