import { expect, test } from 'vitest';
import { clientFor, PAYOUT } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

test('a body that is nested too deep is refused, though somebody reads the events, and the journal shows it', async () => {
  const client = await clientFor();
  const events = await client.world.events();
  const body = `{"x":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`;
  const shown = body.slice(0, 8192);
  const headers = { 'content-type': 'application/json' };
  const refused = await client.send('POST', '/payout/initiate', { headers, body });
  expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  expect((await events.next()).value).toMatchObject({ type: 'request', data: { request: { body: shown } } });
  await events.return();
  const [entry] = await client.world.requests();
  expect(entry).toMatchObject({ answer: { status: 400 }, request: { body: shown }, cut: ['body'] });
  const deepest = { ...PAYOUT, metadata: nested(98) }; // an unknown field, which is ignored
  expect((await client.pay(deepest)).status).toBe(200);
});

testRows([
  ['PUT', 'scenario', { rules: [{ name: 'x', effect: { respond: { status: 200, body: nested(1000) } } }] }],
  ['POST', 'requests/verify', { match: { a: nested(1000) } }],
] as const)('a control call with a body that is nested too deep is refused', async (method, path, json) => {
  const { send } = await clientFor();
  const message = 'body must not be nested deeper than 100 levels';
  expect(await send(method, `/_sandbox/${path}`, { json })).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'body', message }] },
  });
});
