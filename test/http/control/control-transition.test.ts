import { expect, test } from 'vitest';
import { after, ask, payoutIn, refusal } from '../../support/control.ts';
import { clientFor, sandboxFor } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';
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
const EDGES = STATES.flatMap((from) =>
  (['SUCCESS', 'FAILED', 'REVERSED'] as const).map((to) => ({ from, to })),
);
const LEGAL_EDGES = EDGES.filter(({ from, to }) => LEGAL[from].includes(to));
const ILLEGAL_EDGES = EDGES.filter(({ from, to }) => !LEGAL[from].includes(to));

testRows(LEGAL_EDGES)(
  'a payout is forced along every legal transition, and its money follows',
  async ({ from, to }) => {
    const world = await clientFor(SETTINGS);
    const txnId = await payoutIn(world, from);
    await world.clock.advance('7s');
    const moved = await ask(world, 'POST', `/transactions/${txnId}/transition`, { to });
    const isRefunded = to === 'FAILED' || to === 'REVERSED';
    expect(moved).toMatchObject({
      status: 200,
      body: {
        status: to,
        completed_at: from === 'PENDING' ? after(7) : START,
        reason: `${to} by a forced transition`,
        legal: LEGAL[to],
      },
    });
    expect(moved.body.timeline.at(-1)).toEqual({
      to,
      at: after(7),
      polls: null,
      utr: to !== 'FAILED',
      done: true,
      forced: true,
      after_request: 1,
    });
    const { data } = (await world.status({ txn_id: txnId })).body;
    expect(data).toMatchObject({
      status: to,
      utr: to === 'FAILED' ? null : expect.stringMatching(/^\d{12}$/),
    });
    expect(await world.world.balance()).toBe(isRefunded ? 1000 : 900);
    expect(await world.world.entries({ txn_id: txnId })).toHaveLength(isRefunded ? 2 : 1);
    expect((await world.world.summary()).invariants).toBe('hold');
  },
);

testRows(ILLEGAL_EDGES)(
  'forcing a payout along any other transition is refused, with the legal ones',
  async ({ from, to }) => {
    const world = await clientFor(SETTINGS);
    const txnId = await payoutIn(world, from);
    const before = [await world.world.transaction(txnId), await world.world.balance()];
    const legal =
      LEGAL[from].length === 0 ? `${from} is final` : `it can only become ${LEGAL[from].join(' or ')}`;
    expect(await ask(world, 'POST', `/transactions/${txnId}/transition`, { to })).toMatchObject(
      refusal(409, 'ILLEGAL_TRANSITION', `${txnId} is ${from} and cannot become ${to}: ${legal}`, ['to']),
    );
    expect([await world.world.transaction(txnId), await world.world.balance()]).toEqual(before);
  },
);

test('a payout that is forced to FAILED gets a UTR if the dialect says so', async () => {
  const world = await clientFor(SETTINGS);
  await world.world.use({ settlement: 'manual', dialect: { status: { utr_of_failed: 'set' } } });
  const txnId = await payoutIn(world, 'FAILED');
  expect((await world.world.transaction(txnId)).utr).toMatch(/^\d{12}$/);
});

testRows<[body: object, message: RegExp, field: string]>([
  [{ to: 'PENDING' }, /^to must be one of SUCCESS, FAILED, REVERSED$/, 'to'],
  [{ to: 'DONE' }, /^to must be one of SUCCESS, FAILED, REVERSED$/, 'to'],
  [{}, /^to is required$/, 'to'],
  [{ to: 'FAILED', at: 'now' }, /^at is not known/, 'at'],
])('a transition that is not valid is refused', async (body, message, field) => {
  const world = await clientFor(SETTINGS);
  const txnId = await payoutIn(world, 'PENDING');
  expect(await ask(world, 'POST', `/transactions/${txnId}/transition`, body)).toMatchObject(
    refusal(400, 'INVALID_REQUEST', expect.stringMatching(message), [field]),
  );
});

test('a payout of another world cannot be read or forced', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const [mine, other] = [client(), client()];
  const txnId = await payoutIn(mine, 'PENDING');
  const unknown = refusal(404, 'TRANSACTION_NOT_FOUND', `This world has no transaction ${txnId}`);
  expect(await ask(other, 'GET', `/transactions/${txnId}`)).toMatchObject(unknown);
  expect(await ask(other, 'POST', `/transactions/${txnId}/transition`, { to: 'FAILED' })).toMatchObject(
    unknown,
  );
  expect((await mine.world.transaction(txnId)).status).toBe('PENDING');
});

test('the control API returns the state machine as data', async () => {
  const { client } = await sandboxFor();
  const { initial, states, edges } = (await ask(client(), 'GET', '/model')).body;
  expect(initial).toBe('PENDING');
  expect(edges).toEqual(LEGAL_EDGES);
  expect(states).toEqual(
    STATES.map((name) => ({
      name,
      final: LEGAL[name].length === 0,
      money_back: name === 'FAILED' || name === 'REVERSED',
    })),
  );
});
