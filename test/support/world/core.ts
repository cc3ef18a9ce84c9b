import {
  WORLD_ITEMS,
  WorldHead,
  type ClockStart,
  type Payout,
  type ScenarioSettings,
  type ScenarioSource,
  type WorldItem,
} from '../../../src/contract/snapshot.ts';
import { expect } from 'vitest';
import type { InitiateRequest, StatusQuery } from '../../../src/contract/service.ts';
import type { ScenarioInput } from '../../../src/contract/control.ts';
import { Refusal } from '../../../src/contract/errors.ts';
import type { Change } from '../../../src/payout/payout.ts';
import type { PublishedEvent } from '../../../src/worlds/world-connections.ts';
import type { DropReason } from '../../../src/worlds/order.ts';
import type { World } from '../../../src/worlds/world.ts';
import { Worlds } from '../../../src/worlds/worlds.ts';
import { ScenarioLibrary } from '../../../src/scenario/scenario-library.ts';
import { apply, type Applied, type ResultOf } from '../../../src/world/apply.ts';
import type { ClockResult } from '../../../src/world/clock.ts';
import type { Answer, Decided } from '../../../src/world/journal/kept-request.ts';
import type { Command, CommandOf } from '../../../src/world/commands.ts';
import type { Ended, Received } from '../../../src/world/request/request-commands.ts';
import type { StateEvent } from '../../../src/world/events.ts';
import { findPayout } from '../../../src/world/ledger.ts';
import { SnapshotReader, takeSnapshot } from '../../../src/world/snapshot.ts';
import { openWorld } from '../../../src/world/opening.ts';
import type { WorldState } from '../../../src/world/state-shape.ts';
import { ManualClock } from './manual-clock.ts';

/** The world time and wall time at which most tests start. */
export const START_MS = Date.UTC(2026, 0, 15, 10, 30);
export const DAY_MS = 86_400_000;
const WORLD_ID = 'a'.repeat(32);

/** A clock that is frozen at a world time. */
export const frozenClock = (atMs: number): ClockStart => ({ atMs, speed: 0 });

/** A clock that runs with wall time. */
export const runningClock: ClockStart = { atMs: null, speed: 1 };

/** A running clock, INR 10 in the wallet, and payouts that stay PENDING. */
const SETTINGS: ScenarioSettings = {
  openingBalancePaise: 1000,
  seed: '1',
  clock: runningClock,
  settlement: 'manual',
  rateLimit: 'off',
  isMagic: false,
};

export const compiler = new ScenarioLibrary({
  settings: SETTINGS,
  active: undefined,
  folder: undefined,
});

export type RuleInput = NonNullable<ScenarioInput['rules']>[number];
type Timeline = NonNullable<RuleInput['effect']['timeline']>;

export const sourceOf = (
  document: ScenarioInput = {},
  settings: Partial<ScenarioSettings> = {},
  name = 'test',
): ScenarioSource => ({ name, document, settings: { ...SETTINGS, ...settings } });

/** A timeline in short: `UTR 5ms, SUCCESS 9ms, REVERSED read 2` has two steps by time, and one at the second status read. */
export const steps = (text: string): Timeline =>
  text.split(', ').map((step) => {
    const [to, wait, reads] = step.split(' ') as [string, string, string?];
    const when = reads === undefined ? { after: wait } : { polls: Number(reads) };
    return Object.assign(when, to === 'UTR' ? { utr: 'now' as const } : { to: to as 'SUCCESS' });
  });

/** A scenario that gives each of these references its own timeline. */
export const timelines = (byReference: Readonly<Record<string, Timeline | string>>): ScenarioInput => ({
  rules: Object.entries(byReference).map(([reference, timeline]) => ({
    name: `timeline-of-${reference}`,
    match: { route: 'initiate', client_ref_id: reference },
    effect: { timeline: typeof timeline === 'string' ? steps(timeline) : timeline },
  })),
});

/** A scenario of one rule, `test/r`: for every initiate, unless it says otherwise. */
export const oneRule = (effect: RuleInput['effect'], change: Partial<RuleInput> = {}): ScenarioInput => ({
  rules: [{ name: 'r', match: { route: 'initiate' }, effect, ...change }],
});

/** A valid request body: INR 1 by IMPS. */
const request = (change: Partial<InitiateRequest> = {}): InitiateRequest => ({
  client_ref_id: 'a',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1,
  transfer_mode: 'IMPS',
  ...change,
});

/** What a request carries beside what it asks for: as if it had come over the wire just now. */
interface AskedInput {
  readonly headers?: Received['headers'];
  readonly request?: Partial<Received>;
}
const carries = ({ headers = {}, request: change = {} }: AskedInput) => {
  const request: Received = {
    requestId: 'req-1',
    method: 'GET',
    url: '/',
    headers,
    waitedMs: 0,
    after: Number.MAX_SAFE_INTEGER,
    ...change,
  };
  return { request };
};
export const initiate = (
  change: Partial<InitiateRequest> = {},
  input: AskedInput = {},
): CommandOf<'initiate'> => ({ kind: 'initiate', body: request(change), ...carries(input) });
export const status = (query: StatusQuery, input: AskedInput = {}): CommandOf<'status'> => ({
  kind: 'status',
  query,
  ...carries(input),
});
export const balance = (input: AskedInput = {}): CommandOf<'balance'> => ({
  kind: 'balance',
  ...carries(input),
});
export const advance = (move: CommandOf<'advance'>['move']): CommandOf<'advance'> => ({
  kind: 'advance',
  move,
  generation: null,
});

/** A world without a log. Times are ms after `START_MS`; the wall clock stays at the time that was passed last. */
export class Core {
  readonly state: WorldState;
  /** All events, in order. */
  readonly events: StateEvent[] = [];
  /** How often a command had to be submitted again because it was unfinished. */
  turns = 0;
  maxTransactions = 1_000_000;
  keep = 1000;
  rulesFree = 1000;
  /** Whether a response that is sent whole and at once ends right after its request. */
  isAnswering = true;
  server = '';
  /** How many commands its log has. */
  position = 0;
  #wallMs = START_MS;

  constructor(document: ScenarioInput = {}, settings: Partial<ScenarioSettings> = {}, id = WORLD_ID) {
    this.state = openWorld(id, sourceOf(document, settings), START_MS, compiler);
  }

  get changes(): readonly Change[] {
    return this.events.filter((event) => event.type === 'settlement').map(({ change }) => change);
  }

  /** The steps that have happened, as `a SUCCESS 5`: reference, state, and ms after `START_MS`. */
  get steps(): readonly string[] {
    return this.changes.map(({ clientRefId, to, atMs }) => `${clientRefId} ${to} ${atMs - START_MS}`);
  }

  /** Applies a command once. */
  apply(command: Command, atMs?: number): Applied {
    if (atMs !== undefined) this.#wallMs = START_MS + atMs;
    this.position += 1;
    const applied = this.#apply(command);
    if (applied.kind === 'done' && this.isAnswering) this.#endAtOnce(applied.result);
    return applied;
  }

  #apply(command: Command): Applied {
    const { maxTransactions, keep, rulesFree, server, position } = this;
    const room = { maxTransactions, transactions: maxTransactions, keep, rulesFree };
    const applied = apply(this.state, command, { server, position, wallMs: this.#wallMs, room }, compiler);
    this.events.push(...applied.events);
    return applied;
  }

  #endAtOnce(result: ResultOf<Command>): void {
    if (typeof result !== 'object' || !('answer' in result)) return;
    const { nth, waits, fault } = result;
    if (waits === undefined && fault === undefined) this.end(nth, 'answered');
  }

  /** Applies a command until it is finished. @throws Refusal */
  submit<C extends Command>(command: C, atMs?: number): ResultOf<C> {
    let applied = this.apply(command, atMs);
    for (; applied.kind === 'unfinished'; this.turns += 1) applied = this.apply(applied.next);
    if (applied.kind === 'refused') throw new Refusal(applied.refusal.code, applied.refusal.details);
    return applied.result as ResultOf<C>;
  }

  /** Records how a request ended. */
  end(request: number, outcome: Ended['outcome'], change: Partial<Ended> = {}, atMs?: number): void {
    const isSent = outcome === 'answered';
    const ended = { request, outcome, durationMs: 1, after: this.position, isSent, ...change };
    if (atMs !== undefined) this.#wallMs = START_MS + atMs;
    this.#apply({ kind: 'end', ends: [ended] });
  }

  /** Applies what is due. */
  settle(atMs?: number): ClockResult {
    return this.submit({ kind: 'settle' }, atMs);
  }

  choose(source: ScenarioSource, atMs?: number): void {
    this.submit({ kind: 'choose', source, isChosen: true }, atMs);
  }

  /** Adds an override. @returns its id */
  put(rule: Partial<RuleInput>): string {
    return this.submit({ kind: 'putRule', rule });
  }

  force(reference: string, to: Payout['state'], atMs?: number): void {
    this.submit({ kind: 'transition', txnId: this.payout(reference).txnId, to }, atMs);
  }

  /** Restores a snapshot of another world, at the time of the snapshot. */
  restore({ state }: Core): void {
    this.submit({ kind: 'restore', state: load(save(state)), clock: 'from-snapshot' });
  }

  /** Initiates a payout of INR 1 by IMPS, with these changes. */
  pay(reference: string, change: Partial<InitiateRequest> = {}, atMs?: number): Decided {
    return this.submit(initiate({ client_ref_id: reference, ...change }), atMs);
  }

  /** Reads a status. */
  read(query: string | StatusQuery, atMs?: number): Answer {
    return this.submit(status(typeof query === 'string' ? { client_ref_id: query } : query), atMs).answer;
  }

  /** The balance in paise, and when it last changed. */
  balance(atMs?: number): { readonly paise: number; readonly updatedMs: number } {
    const { answer } = this.submit(balance(), atMs);
    if (answer.kind !== 'balance') throw new Error(`no balance: ${answer.kind}`);
    return { paise: answer.balancePaise, updatedMs: answer.lastUpdatedMs - START_MS };
  }

  /** The latest payout of a reference. */
  payout(reference: string): Payout {
    const payout = findPayout(this.state, { clientRefId: reference });
    if (payout === undefined) throw new Error(`no payout ${reference}`);
    return payout;
  }
}

/** The refusal that `work` throws. Fails if it throws none. */
export function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** A snapshot of a world, as plain data. */
export interface Saved {
  readonly head: WorldHead;
  readonly items: readonly WorldItem[];
}

/** Takes a snapshot, and copies it through JSON. @param isLive as a store has it */
export function save(state: WorldState, isLive = false): Saved {
  const { head, items } = takeSnapshot(state, isLive);
  return JSON.parse(JSON.stringify({ head, items: [...items] })) as Saved;
}

/** Reads a snapshot. @throws Refusal STATE_REFUSED */
export function load({ head, items }: Saved): WorldState {
  const reader = new SnapshotReader(head, compiler);
  for (const item of items) reader.add(item);
  return reader.finish();
}

/** Reads a snapshot as from a file: each line is held against its shape first, and has nothing that the shape does not name. */
export function loadFile(saved: Saved): WorldState {
  const items = saved.items.map((item) => {
    const [[name, value]] = Object.entries(item) as [[keyof typeof WORLD_ITEMS, unknown]];
    return { [name]: WORLD_ITEMS[name].parse(value) } as WorldItem;
  });
  const read = { head: WorldHead.parse(saved.head), items };
  expect(read).toEqual(saved);
  return load(read);
}

/** What worlds without a server have, unless a test says otherwise. */
export const WORLDS_OPTIONS = {
  compiler,
  observer: {
    settled: () => undefined,
    failed: (_worldId: string, error: unknown) => expect.unreachable(String(error)),
    dropped: () => undefined,
    lost: () => undefined,
  },
  maxWorlds: 10,
  idleMs: DAY_MS,
  maxRequests: 10,
  maxTransactions: 1_000_000,
  maxRules: 1000,
  maxRequestsInAll: 10_000,
};

/** Reads the events of a world after one of them, or from now on. */
export async function readerOf(world: World, afterId?: string) {
  const read: PublishedEvent[] = [];
  let ends = 0;
  const reader = { take: (event: PublishedEvent) => void read.push(event), end: () => void (ends += 1) };
  return { read, stop: await world.watch(afterId, reader), ends: () => ends };
}

/** A log of worlds without a server, and what its observer was called with. */
export function logFor(
  options: {
    document?: ScenarioInput;
    settings?: Partial<ScenarioSettings>;
  } & Partial<Omit<typeof WORLDS_OPTIONS, 'compiler' | 'observer'>> = {},
  wallClock = new ManualClock(),
) {
  const settled: Change[] = [];
  const failures: unknown[] = [];
  const drops: [string, DropReason][] = [];
  const { document, settings, ...limits } = options;
  let active = sourceOf(document, settings);
  const log = new Worlds({
    ...WORLDS_OPTIONS,
    store: null,
    activeSource: () => active,
    wallClock,
    observer: {
      ...WORLDS_OPTIONS.observer,
      settled: (_worldId, change) => void settled.push(change),
      failed: (_worldId, error) => void failures.push(error),
      dropped: (worldId, reason) => void drops.push([worldId, reason]),
    },
    ...limits,
  });
  const world = (name: string): World => {
    const id = name.padEnd(32, '0');
    void log.use(id);
    return log.known(id)!;
  };
  /** Changes the scenario of the server. */
  const reload = (source: ScenarioSource) => void (active = source);
  return { log, world, wallClock, settled, failures, drops, reload };
}
