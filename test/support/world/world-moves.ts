import assert from 'node:assert/strict';
import { STATES, TRANSFER_MODES } from '../../../src/contract/service.ts';
import { SandboxError, type ScenarioInput, type WorldSnapshot } from '../../../src/index.ts';
import { DEMO, MAGIC_ACCOUNTS, Model, type Behaviour, type Override } from './model.ts';
import type { Random } from './random.ts';
import type { Client } from '../sandbox.ts';
import { START } from './ways-in.ts';

export const OPENING_PAISE = 1_000_000;

export const newModel = (): Model => new Model(Date.parse(START), OPENING_PAISE);

/** The model of a world, and a copy of it from when the latest snapshot was taken. */
export interface ModelWorld {
  model: Model;
  kept: Model | null;
}

/** A world, and its latest snapshot. */
export interface RealWorld {
  readonly client: Client;
  snapshot: WorldSnapshot | null;
}

/** One action on a world, and the result that its model predicts. Neither uses the other. */
export interface Move {
  readonly name: string;
  /** Changes the model. @returns what a client must see */
  readonly predict: (modelWorld: ModelWorld) => unknown;
  /** @returns what a client sees. @throws when an expected answer does not come */
  readonly ask: (realWorld: RealWorld) => Promise<unknown>;
}

const BEHAVIOURS: readonly {
  readonly behaviour: Behaviour;
  readonly scenario: ScenarioInput | null;
}[] = [
  { behaviour: DEMO, scenario: null },
  {
    behaviour: { ...DEMO, paysAgain: true },
    scenario: { dialect: { client_ref_id: { same_body: 'second_payout', changed_body: 'second_payout' } } },
  },
  {
    behaviour: {
      paysAgain: false,
      settlement: {
        IMPS: [[{ afterMs: 2_400_000 }, 'FAILED']],
        UPI: [[{ polls: 2 }, 'SUCCESS']],
        NEFT: [[{ polls: 1 }, 'REVERSED']],
        RTGS: [],
      },
    },
    scenario: {
      settlement: {
        IMPS: [{ to: 'FAILED', after: '40m' }],
        UPI: [{ to: 'SUCCESS', polls: 2 }],
        NEFT: [{ to: 'REVERSED', polls: 1 }],
        RTGS: [],
      },
    },
  },
];

const ORDERS = [
  [{ name: 'refused', seen: 503, pays: false }, { respond: { status: 503 } }],
  [
    { name: 'lost', seen: 500, pays: true },
    { commit: true, respond: { status: 500 } },
  ],
  [
    { name: 'reset', seen: 0, pays: true },
    { commit: true, fault: 'connection-reset' },
  ],
  [
    { name: 'broken', seen: 'normal', pays: true },
    { commit: true, fault: 'malformed-json' },
  ],
  [{ name: 'hanging', seen: 0, pays: false }, { fault: { kind: 'hang', for: '5ms' } }],
  [{ name: 'slow', seen: 'normal', pays: true }, { delay: '3ms' }],
] as const satisfies readonly (readonly [Omit<Override, 'times'>, object])[];

const refusedWith =
  (...codes: readonly string[]) =>
  (error: unknown): string => {
    if (error instanceof SandboxError && codes.includes(error.code)) return error.code;
    throw error;
  };

function paying(random: Random, references: readonly string[]): Move {
  const reference = random.pick(references);
  const amount = random.pick([1, 10_000, 123_456, 600_000, 999_999]);
  const mode = random.pick(TRANSFER_MODES);
  const account = random.oneIn(2) ? '000123456789' : random.pick(MAGIC_ACCOUNTS);
  const body = {
    client_ref_id: reference,
    amount: amount / 100,
    transfer_mode: mode,
    beneficiary_account: account,
  };
  return {
    name: `pay ${reference} ${amount} ${mode} ${account}`,
    predict: ({ model }) => model.pay(reference, amount, mode, account),
    ask: ({ client }) =>
      client.pay(body).then(
        ({ status }) => status,
        () => 0,
      ),
  };
}

function reading(random: Random, references: readonly string[]): Move {
  const reference = random.pick(references);
  return {
    name: `read ${reference}`,
    predict({ model }) {
      const state = model.read(reference);
      return [state === null ? 404 : 200, state];
    },
    async ask({ client }) {
      const { status, body } = await client.status({ client_ref_id: reference });
      return [status, body.data?.status ?? null];
    },
  };
}

function advancing(random: Random): Move {
  const ms = random.pick([0, 1, 1999, 2000, 10_000, 3_600_000, 86_400_000, 3 * 86_400_000]);
  return {
    name: `advance ${ms} ms`,
    predict: ({ model }) => model.advance(ms),
    ask: async ({ client }) => (await client.clock.advance(`${ms}ms`)).changes.length,
  };
}

function funding(random: Random): Move {
  const paise = random.pick([-500_000, -100, 5, 700_000]);
  return {
    name: `move ${paise} paise`,
    predict({ model }) {
      if (model.balance + paise < 0) return 'INSUFFICIENT_BALANCE';
      model.balance += paise;
      return model.balance / 100;
    },
    ask: ({ client: { world } }) =>
      (paise > 0 ? world.fund(paise / 100) : world.withdraw(-paise / 100)).then(
        ({ balance }) => balance,
        refusedWith('INSUFFICIENT_BALANCE'),
      ),
  };
}

function forcing(random: Random, references: readonly string[]): Move {
  const reference = random.pick(references);
  const to = random.pick(['SUCCESS', 'FAILED', 'REVERSED'] as const);
  return {
    name: `force ${reference} to ${to}`,
    predict({ model }) {
      if (!model.payouts.has(reference)) return 'none';
      return model.force(reference, to) ? to : 'ILLEGAL_TRANSITION';
    },
    async ask({ client: { world } }) {
      const latest = (await world.transactions({ client_ref_id: reference })).at(-1);
      if (latest === undefined) return 'none';
      return world
        .transition(latest.txn_id, to)
        .then(({ status }) => status, refusedWith('ILLEGAL_TRANSITION'));
    },
  };
}

function ordering(random: Random): Move {
  const [order, effect] = random.pick(ORDERS);
  const times = 1 + random.below(3);
  return {
    name: `order ${order.name} ${times} times`,
    predict({ model }) {
      model.overrides = [{ ...order, times }, ...model.overrides.filter(({ name }) => name !== order.name)];
      return order.name;
    },
    ask: async ({ client: { world } }) =>
      (await world.rule({ name: order.name, match: { route: 'initiate' }, times, effect })).name,
  };
}

function choosing(random: Random): Move {
  const choice = random.below(BEHAVIOURS.length);
  const { behaviour, scenario } = BEHAVIOURS[choice]!;
  return {
    name: `choose scenario ${choice}`,
    predict({ model }) {
      model.behaviour = behaviour;
      return scenario !== null;
    },
    ask: async ({ client: { world } }) => (await world.use(scenario)).chosen,
  };
}

const forgettingOrders: Move = {
  name: 'remove all overrides',
  predict({ model }) {
    model.overrides = [];
  },
  ask: ({ client: { world } }) => world.removeRule(),
};

const resetting: Move = {
  name: 'reset',
  predict(modelWorld) {
    modelWorld.model = newModel();
    return OPENING_PAISE / 100;
  },
  ask: async ({ client: { world } }) => (await world.reset()).balance,
};

const keeping: Move = {
  name: 'keep a snapshot',
  predict(modelWorld) {
    modelWorld.kept = modelWorld.model.copy();
  },
  async ask(realWorld) {
    realWorld.snapshot = await realWorld.client.world.snapshot();
  },
};

const restoring: Move = {
  name: 'restore it',
  predict(modelWorld) {
    if (modelWorld.kept === null) return null;
    modelWorld.model = modelWorld.kept.copy();
    return modelWorld.model.balance / 100;
  },
  ask: async ({ client: { world }, snapshot }) =>
    snapshot === null ? null : (await world.restore(snapshot)).balance,
};

/** Any move: mostly payouts, and rarely those that start the world again. */
export function nextMove(random: Random, references: readonly string[]): Move {
  const dice = random.below(100);
  if (dice < 45) return paying(random, references);
  if (dice < 60) return reading(random, references);
  if (dice < 72) return advancing(random);
  if (dice < 80) return funding(random);
  if (dice < 88) return forcing(random, references);
  if (dice < 92) return ordering(random);
  if (dice < 94) return choosing(random);
  if (dice < 95) return forgettingOrders;
  if (dice < 97) return keeping;
  return dice < 99 ? restoring : resetting;
}

/**
 * Compares everything a world says about its money with its model, and its balance with its ledger.
 *
 * @param now its expected world time; null when its clock ran
 */
export async function assertMatchesModel(
  { world }: Client,
  model: Model,
  now: number | null = model.now,
): Promise<void> {
  const [summary, transactions, entries] = [
    await world.summary(),
    await world.transactions(),
    await world.entries(),
  ];
  assert.deepEqual(
    {
      balance: summary.balance,
      transactions: summary.transactions,
      invariants: summary.invariants,
      now: now === null ? null : summary.clock.now,
    },
    {
      balance: model.balance / 100,
      transactions: Object.fromEntries(STATES.map((state) => [state, model.count(state)])),
      invariants: 'hold',
      now: now === null ? null : new Date(now).toISOString(),
    },
  );
  assert.deepEqual(
    transactions
      .map(({ client_ref_id, amount, status }) => `${client_ref_id} ${amount} ${status}`)
      .toSorted(),
    model
      .all()
      .map(([reference, { amount, state }]) => `${reference} ${amount / 100} ${state}`)
      .toSorted(),
  );
  const paise = entries.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0);
  assert.equal(paise, model.balance, 'the entries explain every paisa');
}
