import assert from 'node:assert/strict';
import { FAULTS } from '../../../src/contract/scenario-document.ts';
import { clientOf } from '../../support/sandbox.ts';
import { MAGIC_ACCOUNTS, type Model } from '../../support/world/model.ts';
import {
  assertMatchesModel,
  newModel,
  nextMove,
  type ModelWorld,
  type RealWorld,
} from '../../support/world/world-moves.ts';
import type { Answered } from './fast-client.ts';
import type { Soak } from './soak.ts';

const WORKERS = 3;
const MOVES_A_LIFE = 400;

const REFERENCES = Array.from({ length: 12 }, (_, nth) => `order-${nth}`);

/** One client at a time makes any move, faults included, and compares each response with a model. */
export async function modelledWorld(soak: Soak, key: string): Promise<Model> {
  const random = soak.random(key);
  const { sandbox } = soak;
  const realWorld: RealWorld = { client: clientOf(sandbox.world(key)), snapshot: null };
  const modelWorld: ModelWorld = { model: newModel(), kept: null };
  const latest: string[] = [];
  for (let nth = 1; !soak.isOver(); nth += 1) {
    const move = nextMove(random, REFERENCES);
    latest.push(move.name);
    if (latest.length > 30) latest.shift();
    try {
      const expected = move.predict(modelWorld);
      assert.deepEqual(await soak.patiently(() => move.ask(realWorld)), expected);
      if (random.oneIn(40)) await assertMatchesModel(realWorld.client, modelWorld.model);
    } catch (error) {
      throw new Error(`${key}, move ${nth}, after: ${latest.join('; ')}`, { cause: error });
    }
    soak.count('moves');
    soak.count(move.name.split(' ')[0]!);
    if (nth % MOVES_A_LIFE > 0) continue;
    const { id } = await realWorld.client.world.summary();
    await sandbox.dropWorld(id); // the next request of the key opens a new world
    modelWorld.model = newModel();
    soak.count('dropped');
  }
  await assertMatchesModel(realWorld.client, modelWorld.model);
  return modelWorld.model;
}

/** Each marks its faults with a header. Without it, a 500 of a rule could not be told from an internal error. */
const SCENARIOS = [
  'rate-limited',
  'server-error',
  'server-error-after-commit',
  'gateway-html',
  'malformed-json',
  'truncated-answer',
  'reset-after-commit',
  'not-found-then-found',
  'stale-reads',
  'duplicates-rejected',
  'strict',
  'success-then-reversed',
  null,
];

const FAULT_EFFECTS = [
  ...FAULTS.filter((fault) => fault !== 'hang' && fault !== 'slow-body').map((fault) => ({ fault })),
  { fault: { kind: 'hang', for: '20ms' } },
  { fault: { kind: 'slow-body', bytes_per_second: 4000 } },
  { respond: { status: 504 } },
  { delay: { min: '1ms', max: '20ms' } },
];

/** What the control API may answer while other clients change the world. */
const MAY_REFUSE = new Set([200, 201, 402, 404, 409]);

/** Several connections do everything at once, uncoordinated. Only what must always hold is checked. */
export async function roughWorld(soak: Soak, key: string, others: readonly string[]): Promise<void> {
  const { fast } = soak;
  const random = soak.random(key);
  /** Fails for a 5xx that no rule has ordered. */
  const ordered = async (what: string, asked: Promise<Answered>): Promise<void> => {
    const { status, headers, text } = await asked;
    assert.ok(status < 500 || headers.has('x-sandbox-rule'), `${key}: ${status} ${text}`);
    soak.count(what);
  };
  const pay = (): Promise<void> => {
    const account = random.oneIn(3) ? random.pick(MAGIC_ACCOUNTS) : '000123456789';
    const change = { beneficiary_account: account, amount: 1 + random.below(7) };
    return ordered('payouts', fast.pay(key, { client_ref_id: `x${random.below(60)}`, ...change }));
  };
  const read = (path: string): Promise<void> => ordered('reads', fast.send('GET', path, key));
  const leave = async (): Promise<void> => {
    const leaving = new AbortController();
    const change = { client_ref_id: 'hangs', beneficiary_account: '9999100001' };
    const hanging = fast.pay(key, change, leaving.signal);
    await pay();
    leaving.abort();
    await hanging;
    soak.count('hangs left');
  };
  const control = async (what: string, method: string, path: string, body?: unknown, of = key) => {
    const json = typeof body === 'object' ? JSON.stringify(body) : (body as string | undefined);
    const { status, text } = await fast.send(method, `/_sandbox${path}`, of, json);
    const isFull = text.includes('SANDBOX_BUSY'); // of snapshots that are read at once
    assert.ok(isFull || MAY_REFUSE.has(status), `${of} ${method} ${path}: ${status} ${text}`);
    soak.count(what);
    return text;
  };
  const look = async (): Promise<void> => {
    const text = await control('looks', 'GET', '/world');
    assert.equal((JSON.parse(text) as { invariants: unknown }).invariants, 'hold', `${key}: ${text}`);
  };
  const steps: readonly (() => Promise<unknown>)[] = [
    ...Array<typeof pay>(30).fill(pay),
    ...Array<typeof look>(3).fill(look),
    () => read(`/payout/status?client_ref_id=x${random.below(60)}`),
    () => read('/client/fetchbalance'),
    leave,
    async () =>
      control('forks', 'PUT', '/state', await control('snapshots', 'GET', '/state'), random.pick(others)),
    () => control('resets', 'POST', '/reset'),
    () => control('advances', 'POST', '/clock/advance', random.oneIn(2) ? { by: '3d' } : { until: 'idle' }),
    () => control('clocks', 'POST', `/clock/${random.pick(['freeze', 'resume'])}`),
    () => control('money', 'POST', `/wallet/${random.pick(['credit', 'debit'])}`, { amount: 100 }),
    () =>
      control('rules', 'POST', '/rules', {
        name: `rule-${random.below(5)}`,
        times: 1 + random.below(20),
        match: { route: random.pick(['initiate', 'status', 'balance']) },
        effect: random.pick(FAULT_EFFECTS),
      }),
    () => control('rules', 'DELETE', '/rules'),
    () => control('scenarios', 'PUT', '/scenario', { use: random.pick(SCENARIOS) }),
    () => control('journals', 'GET', '/requests?limit=50'),
    () =>
      control('journals', 'POST', '/requests/verify', {
        match: { route: 'initiate' },
        count: { at_least: 1 },
      }),
    () => control('journals', 'GET', '/transactions?limit=50'),
  ];
  const worker = async (): Promise<void> => {
    while (!soak.isOver()) await random.pick(steps)();
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  await look();
}

/** Reads the events of a world until the time is over. Their ids must be without gaps, also across reconnects. */
export async function watchedWorld(soak: Soak, key: string): Promise<void> {
  const world = soak.sandbox.world(key);
  let last: { readonly epoch: string; readonly position: number } | null = null;
  while (!soak.isOver()) {
    const after = last === null ? {} : { after: `${last.epoch}-${last.position}` };
    try {
      for await (const { id, type } of await world.events({ ...after, signal: soak.over })) {
        const [epoch, position] = id.split('-') as [string, string];
        const follows = last === null || last.epoch !== epoch || last.position + 1 === Number(position);
        assert.ok(follows || type === 'missed', `${key}: ${id} after ${last?.position}`);
        last = { epoch, position: Number(position) };
        soak.count('events');
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      if (!soak.isOver()) soak.count('event streams cut'); // the reader was too slow, or its world was dropped
    }
  }
}
