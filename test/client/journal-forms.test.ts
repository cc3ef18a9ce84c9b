import { expect, test } from 'vitest';
import type { World } from '../../src/index.ts';
import { clientFor } from '../support/sandbox.ts';

const FROZEN = { clock: '2026-01-15T10:30:00Z' } as const;

/** Makes a payout that hangs, and leaves it. */
async function payAndLeave(world: World, reference: string): Promise<void> {
  const events = await world.events();
  const leave = new AbortController();
  const paying = world.pay({ client_ref_id: reference }, { signal: leave.signal }).catch(() => null);
  for await (const event of events) {
    if (event.type !== 'request') continue;
    if (event.data.outcome !== 'pending') break;
    leave.abort();
  }
  await paying;
}

test('the journal as text has a line for each request, with what it got and why', async () => {
  const { world, status } = await clientFor(FROZEN);
  expect(await world.journalText()).toBe('No requests in the journal of this world.');
  const lost = { commit: true, respond: { status: 500 } } as const;
  await world.rule({ name: 'lost', match: { route: 'initiate', attempt: 1 }, times: 1, effect: lost });
  await world.pay({ client_ref_id: 'order-1', amount: 1500.5 });
  await world.pay({ client_ref_id: 'order-1', amount: 1500.5 });
  await status({ client_ref_id: 'order-1' });
  await world.pay({ client_ref_id: 'much', amount: 1e9, transfer_mode: 'RTGS' });
  await world.pay({ client_ref_id: 'a\u001b[31m' });
  await world.rule({ name: 'stuck', effect: { fault: 'hang' } });
  await payAndLeave(world, 'order-2');
  const lines = (await world.journalText()).replaceAll(/\d+ ms/g, 'N ms').split('\n');
  expect(lines).toEqual([
    'Requests to this world, at world time in IST, from 2026-01-15:',
    '  #1 16:00:00.000 initiate order-1 ₹1,500.50 IMPS → 500 INTERNAL_ERROR (rule world/lost; payout made; N ms)',
    '  #2 16:00:00.000 initiate order-1 ₹1,500.50 IMPS → 200 PENDING (attempt 2; replayed; N ms)',
    '  #3 16:00:00.000 status order-1 → 200 PENDING (N ms)',
    '  #4 16:00:00.000 initiate much ₹1,00,00,00,000.00 RTGS → 402 INSUFFICIENT_BALANCE (no payout made; N ms)',
    '  #5 16:00:00.000 initiate a\ufffd[31m ₹1,000.00 IMPS → 200 PENDING (payout made; N ms)',
    '  #6 16:00:00.000 initiate order-2 ₹1,000.00 IMPS → hang (rule world/stuck; no payout made; N ms)',
  ]);
  expect((await world.journalText(1)).split('\n')).toEqual([
    'Requests to this world, at world time in IST, from 2026-01-15:',
    expect.stringContaining('#6'),
    '5 other requests not shown',
  ]);
});

test('GET /_sandbox/requests?format=text gives curl the same text, filtered and from either end', async () => {
  const { world, status, send } = await clientFor(FROZEN);
  for (const client_ref_id of ['a', 'b', 'c']) await world.pay({ client_ref_id });
  await status({ client_ref_id: 'b' });
  const textOf = async (query: string) => (await send('GET', `/_sandbox/requests?format=text${query}`)).text;
  expect(await textOf('')).toBe(`${await world.journalText()}\n`);
  expect(await textOf('&client_ref_id=b')).toMatch(/:\n {2}#2 .*\n {2}#4 .*\n2 other requests not shown\n$/);
  expect(await textOf('&order=oldest&limit=2')).toMatch(
    /:\n {2}#1 .*\n {2}#2 .*\n2 other requests not shown\n$/,
  );
  expect(await textOf('&limit=2')).toMatch(/:\n {2}#3 .*\n {2}#4 .*\n2 other requests not shown\n$/);
});
