import { Refusal } from '../../contract/errors.ts';
import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import type { Change } from '../../payout/payout.ts';
import type { ScenarioCompiler } from '../../scenario/scenario.ts';
import type { Applied } from '../../world/apply.ts';
import type { Command } from '../../world/commands.ts';
import type { StateEvent } from '../../world/events.ts';
import { nextDueMsOf } from '../../world/ledger.ts';
import { dropped, type DropReason } from '../../world/payout-refusals.ts';
import { takeSnapshot } from '../../world/snapshot.ts';
import type { WorldState } from '../../world/state.ts';
import { SettlementTimer } from '../settlement-timer.ts';
import type { WallClock } from '../wall-clock.ts';
import type { WorldObserver } from '../world-log.ts';
import { failBatch, WaitingWork, type Batch, type OwnCommand } from './batch.ts';
import { logEntry, type StreamEntry } from './log-entry.ts';
import { FORMAT, keysOf, type WorldKeys } from './scripts.ts';
import { newerFormat, storeUnavailable, type StoreConnection } from './store-connection.ts';
import { writeState } from './stored-snapshot.ts';
import { LogMoved, WorldCopy } from './world-copy.ts';

export interface FollowerParts {
  readonly store: StoreConnection;
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
  /** Numbers that this server has not given before: to calls, commands and places of the journal. */
  readonly nextNumber: () => number;
  /** A world that was not used for so long is gone. */
  readonly idleMs: number;
  /** How much the journal of one world may hold. */
  readonly journalLimits: () => { readonly items: number; readonly bytes: number };
}

interface Told {
  /** Something has happened in the world. @param isOwn whether by a command of this server */
  readonly applied: (event: StateEvent, isOwn: boolean) => void;
  /** The world was reset, or another state was put in its place. */
  readonly replaced: () => void;
  /** A step is due, and nobody may have asked for it. */
  readonly due: () => void;
  /** The state may hold more or less than before. */
  readonly changed: () => void;
  readonly closed: () => void;
}

/** What a call to the store returns, as scripts.ts says. */
type Reply =
  | readonly ['done', nowMs: number, watchedUntilMs: number, news: readonly StreamEntry[], firstEntry: number]
  | readonly ['more', nowMs: number, zero: 0, news: readonly StreamEntry[]]
  | readonly ['behind']
  | readonly ['gone']
  | readonly ['newer', format: number];

const KEPT_LONGER = 1.05; // renewed with every call, and checked by nobody to the second
const OTHERS_WAIT_MS = 250; // a settlement is announced by whoever did something last, or else by the others
const ENTRIES_AT_ONCE = 50;
const COMPACTED_AFTER = 2000;
const MOST_RELOADS = 5;

const changesIn = (events: readonly StateEvent[]): readonly Change[] =>
  events.flatMap((event) => (event.type === 'settlement' ? [event.change] : []));

/**
 * Follows the log of one world, and appends to it. One call is under way at a time; what waits meanwhile goes along with the
 * next. Every call brings what the other servers have appended, and all of it is applied in order.
 */
export class LogFollower {
  readonly #id: string;
  readonly #keys: WorldKeys;
  readonly #parts: FollowerParts;
  readonly #told: Told;
  readonly #timer: SettlementTimer;
  readonly #waiting = new WaitingWork();
  readonly #collectors = new Set<NonNullable<OwnCommand['collect']>>();
  #copy: WorldCopy | null = null;
  #former: WorldState | null = null;
  #isCalling = false;
  #callNumber = 0;
  /** How far the store's clock is ahead of that of this server. */
  #aheadMs = 0;
  #watchedUntilMs = 0;
  #latestMs = 0;
  #compacting: Promise<void> | null = null;
  /** A restore takes its state from beside the log: a snapshot makes that superfluous. */
  #mustCompact = false;
  #closed: DropReason | null = null;

  constructor(id: string, parts: FollowerParts, told: Told) {
    const { wallClock, store } = parts;
    this.#id = id;
    this.#keys = keysOf(id);
    this.#parts = parts;
    this.#told = told;
    const storeClock: WallClock = {
      nowMs: () => this.storeNowMs,
      schedule: (atMs, callback) => {
        const isOwn = this.#copy?.place.name.startsWith(`${store.server}:`) === true;
        return wallClock.schedule(atMs - this.#aheadMs + (isOwn ? 0 : OTHERS_WAIT_MS), callback);
      },
      yieldToEventLoop: () => wallClock.yieldToEventLoop(),
    };
    this.#timer = new SettlementTimer(storeClock, () => told.due());
  }

  /** The state as this server knows it; while it begins again, as it was before. */
  get state(): WorldState {
    const state = this.#copy?.state ?? this.#former;
    if (state === null) throw storeUnavailable();
    return state;
  }

  /** The state at the time that the store had in the latest call. */
  get view(): WorldState {
    const { state } = this;
    return { ...state, wallMs: Math.max(state.wallMs, this.#latestMs) };
  }

  get storeNowMs(): number {
    return this.#parts.wallClock.nowMs() + this.#aheadMs;
  }

  get openedAtMs(): number {
    return this.#copy?.openedAtMs ?? 0;
  }

  get isNew(): boolean {
    return this.#copy?.isNew === true;
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  /** Whether anybody would notice an event. */
  get isWatched(): boolean {
    return this.#watchedUntilMs > this.#latestMs;
  }

  get isIdle(): boolean {
    return !this.#isCalling && this.#compacting === null && this.#waiting.isEmpty;
  }

  /** Opens the world. @param source what a new one stands on; null to make none. @returns whether it is there */
  async open(source: ScenarioSource | null): Promise<boolean> {
    const { idleMs } = this.#parts;
    const copy = await WorldCopy.open(this.#id, this.#keys, this.#parts, source, keptMs(idleMs));
    if (copy === null) return false;
    this.#copy = copy;
    if (copy.state === null) await this.look();
    return true;
  }

  /** Resolves once the state is up to date, and what was sent before is in the store. */
  look(): Promise<void> {
    return new Promise((ready, failed) => this.send((work) => work.addLook({ ready, failed })));
  }

  /** Adds work to what goes along with the next call. */
  send(add: (work: WaitingWork) => void): void {
    add(this.#waiting);
    if (!this.#isCalling) void this.#callAll();
  }

  stopCollecting(collect: NonNullable<OwnCommand['collect']>): void {
    this.#collectors.delete(collect);
  }

  /** Ends it on this server. */
  close(reason: DropReason): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#timer.set(null, { frozenAtMs: 0 });
    this.#told.closed();
    if (!this.#isCalling) this.#failWaiting(dropped(reason));
  }

  async #callAll(): Promise<void> {
    this.#isCalling = true;
    while (!this.#waiting.isEmpty) {
      const batch = this.#waiting.take();
      try {
        await this.#call(batch);
      } catch (error) {
        failBatch(batch, error);
      }
      if (this.#closed !== null) this.#failWaiting(dropped(this.#closed));
    }
    this.#isCalling = false;
  }

  #failWaiting(error: unknown): void {
    while (!this.#waiting.isEmpty) failBatch(this.#waiting.take(), error);
  }

  /** Sends a batch until its fate is known, and applies what the log has. @throws Refusal, as for the whole batch */
  async #call(batch: Batch): Promise<void> {
    const { store, wallClock } = this.#parts;
    this.#callNumber = this.#parts.nextNumber();
    let isRepeated = false;
    let reloads = 0;
    const reload = async (): Promise<void> => {
      reloads += 1;
      if (reloads > MOST_RELOADS) throw storeUnavailable();
      await this.#reload();
    };
    for (;;) {
      if (this.#closed !== null) throw dropped(this.#closed);
      const args = this.#argumentsOf(batch);
      const reply = await store.reliably(async () => {
        try {
          return await store.script<Reply>('sync', ...args);
        } catch (error) {
          isRepeated = true;
          throw error;
        }
      });
      if (reply[0] === 'gone') return await this.#gone();
      if (reply[0] === 'newer') throw newerFormat(reply[1]);
      if (reply[0] === 'behind') {
        if (isRepeated && batch.commands.length > 0) throw storeUnavailable(); // they may be in what is not known any more
        await reload();
        continue;
      }
      this.#latestMs = Math.max(this.#latestMs, reply[1]);
      this.#aheadMs = reply[1] - wallClock.nowMs();
      try {
        const left = await this.#applyNews(reply[3], batch.commands);
        if (reply[0] === 'more') continue;
        this.#watchedUntilMs = reply[2];
        this.#applyOwn(left, reply[1]);
      } catch (error) {
        if (!(error instanceof LogMoved)) throw error;
        await reload();
        continue;
      }
      this.#finish(batch, reply[4]);
      return;
    }
  }

  #argumentsOf({ commands, entries, events }: Batch): readonly (string | number)[] {
    const { store, idleMs, journalLimits } = this.#parts;
    const { head, log, journal, order, events: eventStream, snapshot, news } = this.#keys;
    const { epoch, place } = this.#copy!;
    const { items, bytes } = journalLimits();
    const keys = [head, log, journal, order, eventStream, snapshot, `${head}:${store.server}`];
    const seen = [epoch, FORMAT, place.position, place.name];
    const call = [store.server, this.#callNumber, keptMs(idleMs), news, items, bytes];
    return [
      ...keys,
      ...seen,
      ...call,
      entries.length,
      ...entries.flatMap(({ place, isNew, text }) => [place, isNew ? 1 : 0, text]),
      events.length,
      ...events.flatMap(({ type, data }) => [type, data]),
      commands.length,
      ...commands.flatMap(({ number, command, text }) => [number, isReplacing(command) ? 1 : 0, text]),
    ];
  }

  /** Applies what others have appended, and what an earlier call of this server has. @returns its commands that were not among it */
  async #applyNews(
    news: readonly StreamEntry[],
    commands: readonly OwnCommand[],
  ): Promise<readonly OwnCommand[]> {
    const { store, wallClock } = this.#parts;
    if (news.length === 0) return commands;
    const own = new Map(commands.map((command) => [`${store.server}:${command.number}`, command]));
    for (const [nth, item] of news.entries()) {
      if (nth > 0 && nth % ENTRIES_AT_ONCE === 0) await wallClock.yieldToEventLoop();
      const entry = logEntry(item);
      const command = own.get(entry.name);
      own.delete(entry.name);
      if (command !== undefined) this.#applyCommand(command, entry.position, entry.wallMs);
      else await this.#applyEntry(entry);
    }
    this.#schedule();
    return [...own.values()];
  }

  async #applyEntry(entry: ReturnType<typeof logEntry>): Promise<void> {
    const isOwn = entry.name.startsWith(`${this.#parts.store.server}:`);
    try {
      const applied = await this.#copy!.applyEntry(entry);
      if (applied !== null) this.#tell(applied.command, applied.outcome, isOwn);
    } catch (error) {
      if (error instanceof LogMoved || error instanceof Refusal) throw error; // it has not been applied
      this.#parts.observer.failed(this.#id, error); // whoever submitted it is told as well
    }
  }

  #applyOwn(commands: readonly OwnCommand[], nowMs: number): void {
    for (const command of commands) this.#applyCommand(command, this.#copy!.place.position + 1, nowMs);
    this.#schedule();
  }

  #applyCommand(own: OwnCommand, position: number, wallMs: number): void {
    const { command, room, number, collect } = own;
    const name = `${this.#parts.store.server}:${number}`;
    try {
      const outcome = this.#copy!.applyCommand({ position, name }, wallMs, command, room);
      if (collect !== undefined) this.#collectors.add(collect);
      this.#tell(command, outcome, true);
      if (collect !== undefined && outcome.kind !== 'unfinished') this.#collectors.delete(collect);
      own.applied(outcome);
    } catch (error) {
      own.failed(error);
    }
  }

  #tell(command: Command, { kind, events }: Applied, isOwn: boolean): void {
    if (kind === 'done' && isReplacing(command)) this.#told.replaced();
    if (command.kind === 'restore') this.#mustCompact = true;
    const changes = changesIn(events);
    for (const collect of this.#collectors) collect(changes);
    for (const event of events) this.#told.applied(event, isOwn);
  }

  #schedule(): void {
    this.#timer.set(nextDueMsOf(this.state), this.state.clock);
    this.#told.changed();
  }

  #finish({ entries, looks, commands }: Batch, firstEntry: number): void {
    let nth = firstEntry;
    for (const { isNew, written } of entries) {
      written(isNew ? nth : null);
      if (isNew) nth += 1;
    }
    for (const { ready } of looks) ready();
    if (commands.length > 0) this.#compacting ??= this.#compact().finally(() => (this.#compacting = null));
  }

  /** Begins again at the latest snapshot. */
  async #reload(): Promise<void> {
    const { state } = this;
    const copy = await WorldCopy.open(this.#id, this.#keys, this.#parts, null, 0);
    if (copy === null) return; // the next call finds that it is gone
    this.#copy = copy;
    this.#former = state;
    if (copy.state?.generation !== state.generation) this.#told.replaced();
  }

  /** The world was dropped in the store, or its time was over, or the store has lost it. */
  async #gone(): Promise<never> {
    const reason = await this.#parts.store
      .reliably(() => this.#parts.store.client.get(this.#keys.dropped))
      .catch(() => null);
    this.close((reason ?? 'idle') as DropReason);
    throw dropped(this.#closed!);
  }

  /** Writes a snapshot when the log is long compared to the state. */
  async #compact(): Promise<void> {
    const { store, idleMs, observer } = this.#parts;
    const copy = this.#copy!;
    const { place, epoch, snapshotPosition } = copy;
    const { payouts, generation } = this.state;
    const isLong = place.position - snapshotPosition > Math.max(COMPACTED_AFTER, 2 * payouts.length);
    if (!isLong && !this.#mustCompact) return;
    const { head, log, snapshot } = this.#keys;
    const key = `${snapshot}:${store.server}:${place.position}`;
    try {
      await writeState(store, key, { ...place, epoch, generation }, takeSnapshot(this.state), keptMs(idleMs));
      const args = [
        head,
        log,
        snapshot,
        key,
        epoch,
        snapshotPosition,
        place.position,
        FORMAT,
        keptMs(idleMs),
      ];
      copy.snapshotPosition = await store.reliably(() => store.script<number>('compact', ...args));
      this.#mustCompact = false;
    } catch (error) {
      if (!store.isAway) observer.failed(this.#id, error);
    }
  }
}

const keptMs = (idleMs: number): number => Math.ceil(idleMs * KEPT_LONGER);

const isReplacing = ({ kind }: Command): boolean => kind === 'reset' || kind === 'restore';
