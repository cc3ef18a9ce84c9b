import assert from 'node:assert/strict';
import fc from 'fast-check';
import { STATES, TRANSFER_MODES, type State, type TransferMode } from '../../../src/contract/service.ts';
import type { WorldSnapshot } from '../../../src/index.ts';
import { Model } from './model.ts';
import type { Client } from '../sandbox.ts';
import { START } from './ways-in.ts';

export const OPENING_PAISE = 1_000_000;

/** The world, and what was kept with its latest snapshot. */
interface Both {
  readonly client: Client;
  kept: { readonly snapshot: WorldSnapshot; readonly model: Model } | null;
}

/** The current model. It is replaced when the world is restored or reset. */
interface Held {
  model: Model;
}

type Command = fc.AsyncCommand<Held, Both>;

/** A command that changes the world and its model, and compares them. */
const command = (
  name: string,
  run: (model: Model, both: Both, held: Held) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): Command => ({
  check: ({ model }) => check(model),
  run: (held, both) => run(held.model, both, held),
  toString: () => name,
});

async function assertMatchesModel(model: Model, { client }: Both): Promise<void> {
  const { balance, transactions, invariants, clock } = await client.world.summary();
  const counts = Object.fromEntries(STATES.map((state) => [state, model.count(state)]));
  assert.deepEqual(
    { balance, transactions, invariants, now: clock.now },
    {
      balance: model.balance / 100,
      transactions: counts,
      invariants: 'hold',
      now: new Date(model.now).toISOString(),
    },
  );
}

const REFERENCES = ['a', 'b', 'c'];
const ACCOUNTS = [
  '000123456789',
  '9999000402',
  '9999100500',
  '9999200001',
  '9999200003',
  '9999200004',
  '9999200005',
];

const paying = fc
  .record({
    reference: fc.constantFrom(...REFERENCES),
    amount: fc.constantFrom(1, 10_000, 123_456, 600_000, 999_999),
    mode: fc.constantFrom<TransferMode>(...TRANSFER_MODES),
    account: fc.constantFrom(...ACCOUNTS),
  })
  .map(({ reference, amount, mode, account }) =>
    command(`pay ${reference} ${amount} ${mode} ${account}`, async (model, both) => {
      const { status } = await both.client.pay({
        client_ref_id: reference,
        amount: amount / 100,
        transfer_mode: mode,
        beneficiary_account: account,
      });
      assert.equal(status, model.pay(reference, amount, mode, account));
      await assertMatchesModel(model, both);
    }),
  );

const advancing = fc.constantFrom(0, 1, 1999, 2000, 10_000, 86_400_000, 3 * 86_400_000).map((ms) =>
  command(`advance ${ms} ms`, async (model, both) => {
    const { changes } = await both.client.clock.advance(`${ms}ms`);
    assert.equal(changes.length, model.advance(ms));
    await assertMatchesModel(model, both);
  }),
);

const asking = fc.constantFrom(...REFERENCES).map((reference) =>
  command(`status of ${reference}`, async (model, { client }) => {
    const { status, body } = await client.status({ client_ref_id: reference });
    const known = model.payouts.get(reference);
    assert.deepEqual([status, body.data?.status], known ? [200, known.state] : [404, undefined]);
  }),
);

const funding = fc.constantFrom(-500_000, -100, 5, 700_000).map((paise) =>
  command(`move ${paise} paise`, async (model, both) => {
    const { world } = both.client;
    const moved = paise > 0 ? world.fund(paise / 100) : world.withdraw(-paise / 100);
    if (model.balance + paise < 0) {
      await assert.rejects(moved, { status: 402 });
    } else {
      await moved;
      model.balance += paise;
    }
    await assertMatchesModel(model, both);
  }),
);

const forcing = fc
  .tuple(
    fc.constantFrom(...REFERENCES),
    fc.constantFrom<Exclude<State, 'PENDING'>>('SUCCESS', 'FAILED', 'REVERSED'),
  )
  .map(([reference, to]) =>
    command(
      `force ${reference} to ${to}`,
      async (model, both) => {
        const { world } = both.client;
        const [{ txn_id } = { txn_id: '' }] = await world.transactions({ client_ref_id: reference });
        const forced = world.transition(txn_id, to);
        if (model.force(reference, to)) assert.equal((await forced).status, to);
        else await assert.rejects(forced, { code: 'ILLEGAL_TRANSITION' });
        await assertMatchesModel(model, both);
      },
      (model) => model.payouts.has(reference),
    ),
  );

const resetting = fc.constant(
  command('reset', async (_model, both, held) => {
    await both.client.world.reset();
    held.model = new Model(Date.parse(START), OPENING_PAISE);
    await assertMatchesModel(held.model, both);
  }),
);

const keeping = fc.constant(
  command('keep a snapshot', async (model, both) => {
    both.kept = { snapshot: await both.client.world.snapshot(), model: model.copy() };
  }),
);

const restoring = fc.constant(
  command('restore it', async (_model, both, held) => {
    if (both.kept === null) return;
    await both.client.world.restore(both.kept.snapshot);
    held.model = both.kept.model.copy();
    await assertMatchesModel(held.model, both);
  }),
);

/** Any sequence of commands. */
export const anyCommands = fc.commands(
  [paying, paying, advancing, asking, funding, forcing, forcing, resetting, keeping, restoring],
  { maxCommands: 40, size: 'max' },
);
