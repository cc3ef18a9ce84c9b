import { expect, test } from 'vitest';
import { after, ask, payoutIn } from '../../support/control.ts';
import { clientFor } from '../../support/sandbox.ts';
import { START } from '../../support/world/ways-in.ts';

const SETTINGS = { clock: START, settlement: 'manual', openingBalance: 1000 } as const;

type Final = 'SUCCESS' | 'FAILED' | 'REVERSED';
const LEGAL: Readonly<Record<'PENDING' | Final, readonly Final[]>> = {
  PENDING: ['SUCCESS', 'FAILED', 'REVERSED'],
  SUCCESS: ['REVERSED'],
  FAILED: [],
  REVERSED: [],
};
const STATES = Object.keys(LEGAL) as (keyof typeof LEGAL)[];
const EDGES = STATES.flatMap((from) => LEGAL[from].map((to) => ({ from, to })));

test.each(EDGES)('a payout is forced from $from to $to, and its money follows', async ({ from, to }) => {
  const world = await clientFor(SETTINGS);
  const txnId = await payoutIn(world, from);
  await world.clock.advance('7s');
  const moved = await ask(world, 'POST', `/transactions/${txnId}/transition`, { to });
  const isRefunded = to !== 'SUCCESS';
  expect(moved).toMatchObject({
    status: 200,
    body: {
      status: to,
      completed_at: from === 'PENDING' ? after(7) : START,
      reason: `${to} by a forced transition`,
      legal: LEGAL[to],
    },
  });
  const step = { to, at: after(7), polls: null, utr: to !== 'FAILED', done: true };
  expect(moved.body.timeline.at(-1)).toEqual({ ...step, forced: true, after_request: 1 });
  const utr = to === 'FAILED' ? null : expect.stringMatching(/^\d{12}$/);
  expect((await world.status({ txn_id: txnId })).body.data).toMatchObject({ status: to, utr });
  expect(await world.world.balance()).toBe(isRefunded ? 1000 : 900);
  expect(await world.world.entries({ txn_id: txnId })).toHaveLength(isRefunded ? 2 : 1);
  expect((await world.world.summary()).invariants).toBe('hold');
});

test('a payout that is forced to FAILED gets a UTR if the dialect says so', async () => {
  const world = await clientFor(SETTINGS);
  await world.world.use({ settlement: 'manual', dialect: { status: { utr_of_failed: 'set' } } });
  const txnId = await payoutIn(world, 'FAILED');
  expect((await world.world.transaction(txnId)).utr).toMatch(/^\d{12}$/);
});
