import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import type { ScenarioCompiler } from '../../scenario/scenario.ts';
import { nextDueMsOf } from '../../world/ledger.ts';
import type { WorldState } from '../../world/state.ts';
import { SettlementTimer, type WallClock } from '../wall-clock.ts';
import { dropped, type DropReason, type WorldObserver } from '../world-log.ts';
import { appendArguments, type AppendReply, type Look, type OwnCommand } from './calls/append-call.ts';
import { BatchedCalls } from './calls/batched-calls.ts';
import { fingerprintOf } from './log-entry.ts';
import { LogApplier, type Listener } from './log-applier.ts';
import { Compaction, keptMs, renewedMs } from './compaction.ts';
import { keysOf, type WorldKeys } from './scripts/scripts.ts';
import { storeUnavailable, type StoreConnection } from './store-connection.ts';
import { LogMoved, WorldCopy } from './world-copy.ts';

export interface FollowerParts {
  readonly store: StoreConnection;
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
  /** Numbers that this server has not given before: to calls, commands and places of the journal. */
  readonly nextNumber: () => number;
  /** A world that was not used for this long is gone. */
  readonly idleMs: number;
}

interface Told extends Listener {
  /** A step is due, perhaps without a request that would apply it. */
  readonly due: () => void;
  /** The state may hold more or less than before. */
  readonly changed: () => void;
  readonly closed: () => void;
}

const OTHERS_WAIT_MS = 250; // a settlement is announced by the server of the latest command; the others step in after this
const MOST_RELOADS = 5;

const isCommand = (item: OwnCommand | Look): item is OwnCommand => 'command' in item;
const isLook = (item: OwnCommand | Look): item is Look => !isCommand(item);

/**
 * Follows the log of one world, and appends to it. One call is under way at a time; what comes meanwhile goes with the next.
 * Every call returns what the other servers have appended, and all of it is applied in order.
 */
export class LogFollower {
  readonly #id: string;
  readonly #keys: WorldKeys;
  readonly #parts: FollowerParts;
  readonly #told: Told;
  readonly #timer: SettlementTimer;
  readonly #calls: BatchedCalls<OwnCommand | Look>;
  #copy: WorldCopy | null = null;
  #former: WorldState | null = null;
  /** How far the store's clock is ahead of this server's. */
  #aheadMs = 0;
  #watchedUntilMs = 0;
  #latestMs = 0;
  #asked = 0;
  readonly #compaction: Compaction;
  readonly #applier: LogApplier;
  #renewedMs = -Infinity;
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
    this.#compaction = new Compaction(id, parts);
    this.#applier = new LogApplier(id, parts, told);
    this.#calls = new BatchedCalls(parts, (items) => this.#callAll(items));
    this.#timer = new SettlementTimer(storeClock, () => told.due());
  }

  /** Distinguishes the lives of a world: it changes when the world is dropped and opened again. */
  get epoch(): string {
    return this.#copy?.epoch ?? '';
  }

  /** The state as this server knows it; during a reload, as it was before. */
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

  /** The name of the latest command that this server has applied. */
  get latestCommand(): string {
    return this.#copy?.place.name ?? '';
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
    return this.#calls.isIdle && !this.#compaction.isRunning;
  }

  /** Opens the world. @param source the scenario of a new one; null to make none. @returns whether it exists */
  async open(source: ScenarioSource | null): Promise<boolean> {
    const { idleMs } = this.#parts;
    const copy = await WorldCopy.open(this.#id, this.#keys, this.#parts, source, keptMs(idleMs));
    if (copy === null) return false;
    this.#copy = copy;
    if (copy.state === null) await this.look();
    return true;
  }

  /** How many requests have begun, as far as this server knows. */
  get asked(): number {
    return this.#asked;
  }

  /** Resolves once the state is up to date. @param begins whether a request begins @returns its number */
  look(begins = false): Promise<number> {
    return new Promise((ready, failed) => this.#calls.add({ begins, ready, failed }));
  }

  submit(command: OwnCommand): void {
    this.#calls.add(command);
  }

  stopCollecting(collect: NonNullable<OwnCommand['collect']>): void {
    this.#applier.stopCollecting(collect);
  }

  /** Stops following on this server. */
  close(reason: DropReason): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#timer.set(null, { frozenAtMs: 0 });
    this.#told.closed();
  }

  async #callAll(items: readonly (OwnCommand | Look)[]): Promise<void> {
    const commands = items.filter(isCommand);
    const looks = items.filter(isLook);
    const begins = looks.filter((look) => look.begins).length;
    try {
      await this.#call(commands, begins);
      let nth = this.#asked - begins;
      for (const look of looks) look.ready(look.begins ? (nth += 1) : 0);
    } catch (error) {
      for (const { failed } of items) failed(error);
    }
  }

  /** Appends commands until their fate is known, and applies what the log has. @throws Refusal, as for all of them */
  async #call(all: readonly OwnCommand[], begins: number): Promise<void> {
    const { store, wallClock, nextNumber } = this.#parts;
    const number = nextNumber();
    let commands = all; // those that have not been found in the log
    const { position } = this.#copy!.place;
    let isUnsure = false;
    let reloads = 0;
    const reload = async (): Promise<void> => {
      reloads += 1;
      if (reloads > MOST_RELOADS) throw storeUnavailable();
      await this.#reload();
      // commands that an earlier call appended may be in the part of the log that this server skipped
      const isLost = this.#copy!.snapshotPosition > position;
      if (isLost && isUnsure && commands.length > 0) throw storeUnavailable();
    };
    for (;;) {
      if (this.#closed !== null) throw dropped(this.#closed);
      const reply = await store.reliably(async () => {
        try {
          return await this.#append(commands, number, begins);
        } catch (error) {
          isUnsure = true;
          throw error;
        }
      }, this.#keys.head);
      if (reply[0] === 'gone') return await this.#gone();
      if (reply[0] === 'newer') throw store.newerFormat(this.#keys.head, reply[1]);
      if (reply[0] === 'behind') {
        await reload();
        continue;
      }
      this.#latestMs = Math.max(this.#latestMs, reply[1]);
      this.#aheadMs = reply[1] - wallClock.nowMs();
      try {
        commands = await this.#applier.applyNews(this.#copy!, reply[3], commands);
      } catch (error) {
        if (!(error instanceof LogMoved)) throw error;
        isUnsure ||= reply[0] === 'done';
        await reload();
        continue;
      }
      if (reply[0] === 'more') continue;
      this.#watchedUntilMs = reply[2];
      this.#asked = reply[4];
      this.#applier.applyOwn(this.#copy!, commands, reply[1]);
      this.#renew();
      this.#timer.set(this.isClosed ? null : nextDueMsOf(this.state), this.state.clock);
      this.#told.changed();
      if (all.length > 0) this.#compaction.consider(this.#copy!, this.#applier.takeRestores());
      return;
    }
  }

  #append(commands: readonly OwnCommand[], number: number, begins: number): Promise<AppendReply> {
    const { server } = this.#parts.store;
    const { epoch, place, state } = this.#copy!;
    const fingerprint = state === null ? '' : fingerprintOf(state);
    const call = { keys: this.#keys, epoch, place, fingerprint, server, number, begins };
    return this.#parts.store.script<AppendReply>('append', ...appendArguments(call, commands));
  }

  /** Keeps the world in the store for longer, now and then. */
  #renew(): void {
    const { store, idleMs } = this.#parts;
    const { head, log, journal, events, snapshot } = this.#keys;
    if (this.#latestMs - this.#renewedMs <= renewedMs(idleMs)) return;
    this.#renewedMs = this.#latestMs;
    store
      .script('renew', head, log, journal, events, snapshot, keptMs(idleMs))
      .catch(() => (this.#renewedMs = -Infinity)); // the next call tries again
  }

  /** Reloads the latest snapshot. */
  async #reload(): Promise<void> {
    const { state } = this;
    const copy = await WorldCopy.open(this.#id, this.#keys, this.#parts, null, 0);
    if (copy === null) return; // the next call finds that it is gone
    this.#copy = copy;
    this.#former = state;
    if (copy.state?.generation !== state.generation) this.#told.replaced();
  }

  /** The world was dropped from the store, or has expired there, or the store has lost it. */
  async #gone(): Promise<never> {
    const reason = await this.#parts.store
      .reliably(() => this.#parts.store.client.get(this.#keys.dropped))
      .catch(() => null);
    this.close((reason ?? 'idle') as DropReason);
    throw dropped(this.#closed!);
  }
}
