import assert from 'node:assert/strict';
import { FAULTS } from '../../../src/contract/scenario-document.ts';
import type { FastClient } from './fast-client.ts';
import { MAGIC_ACCOUNTS } from '../../support/world/model.ts';
import type { Random } from '../../support/world/random.ts';
import { clientOf } from '../../support/sandbox.ts';
import type { Sandbox } from '../../../src/index.ts';
import {
  assertMatchesModel,
  newModel,
  nextMove,
  type ModelWorld,
  type RealWorld,
} from '../../support/world/world-moves.ts';

/** What every world of a soak works with. */
export interface Soak {
  readonly sandbox: Sandbox;
  readonly fast: FastClient;
  readonly isOver: () => boolean;
  /** Counts something that happened, for the report. */
  readonly count: (what: string, times?: number) => void;
}

const DAYS_MS = 30 * 86_400_000; // by then, all scheduled steps have happened
const WORKERS = 3;
const PAYOUTS_A_LIFE = 150;
const MOVES_BEFORE_A_LOOK = 40;
const MOVES_A_LIFE = 400;

const REFERENCES = Array.from({ length: 12 }, (_, nth) => `order-${nth}`);

/** One client at a time makes any move, faults included, and compares each response with a model. */
export async function modelledWorld({ sandbox, isOver, count }: Soak, key: string, random: Random) {
  const realWorld: RealWorld = { client: clientOf(sandbox.world(key)), snapshot: null };
  const modelWorld: ModelWorld = { model: newModel(), kept: null };
  const latest: string[] = [];
  for (let nth = 1; !isOver(); nth += 1) {
    const move = nextMove(random, REFERENCES);
    latest.push(move.name);
    if (latest.length > 30) latest.shift();
    try {
      const expected = move.predict(modelWorld);
      assert.deepEqual(await move.ask(realWorld), expected);
      if (random.oneIn(MOVES_BEFORE_A_LOOK)) await assertMatchesModel(realWorld.client, modelWorld.model);
    } catch (error) {
      throw new Error(`${key}, move ${nth}, after: ${latest.join('; ')}`, { cause: error });
    }
    count('moves');
    count(move.name.split(' ')[0]!);
    if (nth % MOVES_A_LIFE > 0) continue;
    await drop(sandbox, realWorld); // the next request of the key opens a new world
    modelWorld.model = newModel();
    count('dropped');
  }
  await assertMatchesModel(realWorld.client, modelWorld.model);
  return modelWorld.model;
}

async function drop(sandbox: Sandbox, { client: { world } }: RealWorld): Promise<void> {
  const { id } = await world.summary();
  await sandbox.dropWorld(id);
}

/**
 * Several connections make payouts as fast as they can. Then all scheduled steps happen, the world is compared with its
 * model to the last paisa, and it is reset.
 */
export async function crowdedWorld(soak: Soak, key: string, random: Random, clockRuns: boolean) {
  const { sandbox, fast, isOver, count } = soak;
  const client = clientOf(sandbox.world(key));
  while (!isOver()) {
    const model = newModel();
    if (clockRuns) await client.clock.resume();
    let paid = 0;
    const worker = async (): Promise<void> => {
      while (paid < PAYOUTS_A_LIFE && !isOver()) {
        paid += 1;
        const reference = `r${paid}`;
        const account = random.oneIn(3) ? random.pick(MAGIC_ACCOUNTS) : '000123456789';
        const amount = 1 + random.below(100);
        const expected = model.pay(reference, amount, 'IMPS', account);
        const change = { client_ref_id: reference, beneficiary_account: account, amount: amount / 100 };
        const answers = [(await fast.pay(key, change)).status];
        if (random.oneIn(4)) answers.push((await fast.pay(key, change)).status); // the same request again makes no second payout
        assert.deepEqual(answers, Array(answers.length).fill(expected), `${key} ${reference} ${account}`);
        count('payouts', answers.length);
        if (expected >= 500 || expected === 0) count('faults', answers.length);
        if (random.oneIn(3)) await ask(fast, `/payout/status?client_ref_id=r0`, key, 404);
        if (random.oneIn(3)) await ask(fast, '/client/fetchbalance', key, 200);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    if (clockRuns) await client.clock.freeze();
    model.advance(DAYS_MS);
    await client.clock.advance({ until: 'idle' });
    await assertMatchesModel(client, model, null);
    const expected = { match: { client_ref_id: `r${paid}` }, count: { at_least: 1 } };
    const { passed, evicted } = await client.world.verify(expected);
    assert.ok(
      passed || evicted > 0 || paid === 0,
      `${key}: the journal has its latest payout, or says that it dropped some`,
    );
    await client.world.reset();
    count('resets');
  }
}

async function ask(fast: FastClient, path: string, key: string, expected: number): Promise<void> {
  const { status } = await fast.send('GET', path, key);
  assert.equal(status, expected, `${key} ${path}`);
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
  { delay: { median: '5ms', sigma: 1 } },
];

/** What the control API may answer while other clients change the world. */
const MAY_REFUSE = new Set([200, 201, 402, 404, 409]);

/** Several connections do everything at once, uncoordinated. Only what must always hold is checked. */
export async function roughWorld(
  { fast, isOver, count }: Soak,
  key: string,
  others: readonly string[],
  random: Random,
) {
  let nth = 0;
  const isOrdered = ({ status, headers }: { status: number; headers: object }): boolean =>
    status < 500 || 'x-sandbox-rule' in headers;
  const pay = async (): Promise<void> => {
    nth += 1;
    const account = random.oneIn(3) ? random.pick(MAGIC_ACCOUNTS) : '000123456789';
    const body = {
      client_ref_id: `x${random.below(60)}`,
      beneficiary_account: account,
      amount: 1 + (nth % 7),
    };
    const answer = await fast.pay(key, body);
    assert.ok(isOrdered(answer), `${key}: ${answer.status} ${answer.text}`);
    count('payouts');
  };
  const leave = async (): Promise<void> => {
    const leaving = new AbortController();
    const hanging = fast.pay(
      key,
      { client_ref_id: 'hangs', beneficiary_account: '9999100001' },
      leaving.signal,
    );
    await pay();
    leaving.abort();
    await hanging;
    count('hangs left');
  };
  const control = async (method: string, path: string, body?: unknown) => {
    const answer = await fast.control(method, path, key, body);
    assert.ok(MAY_REFUSE.has(answer.status), `${key} ${method} ${path}: ${answer.status} ${answer.text}`);
    count('control');
    return answer;
  };
  const look = async (): Promise<void> => {
    const { text } = await control('GET', '/world');
    assert.equal((JSON.parse(text) as { invariants: unknown }).invariants, 'hold', `${key}: ${text}`);
  };
  const fork = async (): Promise<void> => {
    const { text } = await control('GET', '/state');
    const target = random.pick(others);
    const { status, text: said } = await fast.send('PUT', '/_sandbox/state', target, text);
    assert.ok(MAY_REFUSE.has(status), `${key} into ${target}: ${status} ${said}`);
    count('restores');
  };
  const steps: readonly (() => Promise<unknown>)[] = [
    ...Array<typeof pay>(30).fill(pay),
    ...Array<typeof look>(3).fill(look),
    () => fast.send('GET', `/payout/status?client_ref_id=x${random.below(60)}`, key).then(assertOrdered),
    () => fast.send('GET', '/client/fetchbalance', key).then(assertOrdered),
    leave,
    fork,
    () => control('POST', '/reset').then(() => count('resets')),
    () => control('POST', '/clock/advance', random.oneIn(2) ? { by: '3d' } : { until: 'idle' }),
    () => control('POST', `/clock/${random.pick(['freeze', 'resume'])}`),
    () => control('POST', `/wallet/${random.pick(['credit', 'debit'])}`, { amount: 100 }),
    () =>
      control('POST', '/rules', {
        name: `rule-${random.below(5)}`,
        times: 1 + random.below(20),
        match: { route: random.pick(['initiate', 'status', 'balance']) },
        effect: random.pick(FAULT_EFFECTS),
      }),
    () => control('DELETE', '/rules'),
    () => control('PUT', '/scenario', { use: random.pick(SCENARIOS) }).then(() => count('scenarios')),
    () => control('GET', '/requests?limit=50'),
    () => control('POST', '/requests/verify', { match: { route: 'initiate' }, count: { at_least: 1 } }),
    () => control('GET', '/transactions?limit=50'),
  ];
  const assertOrdered = (answer: { status: number; headers: object }): void =>
    assert.ok(isOrdered(answer), `${key}: ${answer.status}`);
  const worker = async (): Promise<void> => {
    while (!isOver()) await random.pick(steps)();
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  await look();
}

/** Reads the events of a world until the end. Their ids must be without gaps, also across reconnects. */
export async function watchedWorld({ sandbox, isOver, count }: Soak, key: string, end: AbortSignal) {
  let last: { readonly epoch: string; readonly position: number } | null = null;
  while (!isOver()) {
    const after = last === null ? {} : { after: `${last.epoch}-${last.position}` };
    try {
      for await (const { id, type } of await sandbox.world(key).events({ ...after, signal: end })) {
        const [epoch, position] = id.split('-') as [string, string];
        const follows = last === null || last.epoch !== epoch || last.position + 1 === Number(position);
        assert.ok(follows || type === 'missed', `${key}: ${id} after ${last?.position}`);
        last = { epoch, position: Number(position) };
        count('events');
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      if (!end.aborted) count('event streams cut'); // the reader was too slow, or its world was dropped
    }
  }
}
