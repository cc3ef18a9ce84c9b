// The library beside what tests replace, in any runner and environment. Each case uses it once more with one thing replaced.
const assert = require('node:assert/strict');
const { startSandbox, connectSandbox } = require('payout-sandbox');

exports.useAll = useAll;
async function useAll() {
  const sandbox = await startSandbox({ settlement: 'demo', clockSpeed: 3600 });
  const world = sandbox.world();
  await world.pay({ client_ref_id: 'order-1' });
  await world.waitFor('order-1', 'SUCCESS');
  await world.rule({ effect: { delay: '1ms', respond: { status: 503 } } });
  const { status } = await connectSandbox({ url: sandbox.url })
    .world(world.apiKey)
    .pay({ client_ref_id: 'order-2' });
  assert.equal(status, 503);
  await world.clock.freeze();
  await world.clock.advance(new Date(Date.now() + 864e5));
  await world.expect({ status: 503 }).exactly(1);
  for await (const { type } of await world.events({ after: '0' })) if (type) break;
  await sandbox.close();
}

/** @param fake `vi` or `jest` */
exports.define = (test, fake) => {
  test('fake timers', async () => {
    fake.useFakeTimers();
    await useAll().finally(() => fake.useRealTimers());
  });
  test('a stub of fetch', async () => {
    const { fetch } = globalThis;
    globalThis.fetch = () => Promise.resolve({ ok: true, status: 200, json: () => ({}), text: () => '{}' });
    await useAll().finally(() => (globalThis.fetch = fetch));
  });
  if (typeof Request !== 'function') return; // in jsdom, the interceptors themselves cannot be loaded
  test('nock', async () => {
    const nock = require('nock');
    nock.disableNetConnect();
    await useAll().finally(() => nock.restore());
  });
  test("undici's MockAgent and ProxyAgent", async () => {
    const { getGlobalDispatcher, MockAgent, ProxyAgent, setGlobalDispatcher } = require('undici');
    const before = getGlobalDispatcher();
    const mock = new MockAgent();
    mock.disableNetConnect();
    for (const agent of [mock, new ProxyAgent('http://127.0.0.1:9')]) {
      setGlobalDispatcher(agent);
      await useAll().finally(() => setGlobalDispatcher(before));
    }
  });
};
