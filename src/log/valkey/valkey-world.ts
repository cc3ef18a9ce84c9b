import { Refusal } from '../../contract/errors.ts';
import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import type { Change } from '../../payout/payout.ts';
import { apply, type Applied, type ResultOf } from '../../world/apply.ts';
import { isReplacing, type Command, type RestoreCommand } from '../../world/commands.ts';
import { clockResult } from '../../world/clock.ts';
import { eventData, type StateEvent } from '../../world/events.ts';
import { journalEntry, type Exchange } from '../../world/journal/exchange.ts';
import { isMoreDue } from '../../world/ledger.ts';
import { noneHeld } from '../../world/request/request-result.ts';
import { isPureRead } from '../../world/request/pure-read.ts';
import { takeSnapshot } from '../../world/snapshot.ts';
import { worldTimeMs, type WorldState } from '../../world/state.ts';
import { CommandParts } from '../command-parts.ts';
import type { EventReader } from '../event-log.ts';
import { Releases } from '../releases.ts';
import { DelayedAnswers, type DropReason, type WorldHandle } from '../world-log.ts';
import type { OwnCommand } from './calls/append-call.ts';
import { keptMs } from './compaction.ts';
import { commandText, stampOf, type Room, type StoredCommand } from './log-entry.ts';
import { LogFollower, type FollowerParts } from './log-follower.ts';
import { keysOf, restoredKeyOf } from './scripts/scripts.ts';
import { StoredEvents } from './stored/stored-events.ts';
import { StoredJournal } from './stored/stored-journal.ts';
import { writeState } from './stored/stored-snapshot.ts';

/** What all worlds of a log share. */
export interface WorldParts extends FollowerParts {
  /** How much this world may hold. @throws Refusal SANDBOX_FULL without enough room for a restore */
  readonly roomFor: (world: ValkeyWorld, command: Command) => Room;
  readonly changed: (world: ValkeyWorld) => void;
  readonly ended: (world: ValkeyWorld) => void;
  /** How much the journal of one world may hold. */
  readonly journalLimits: () => { readonly items: number; readonly bytes: number };
  /** The scenario that a world should follow now, since it still follows a former one of this server; null for none. */
  readonly successorOf: (state: WorldState) => ScenarioSource | null;
}

/** Calls back when the first answer is held. */
class FollowedAnswers extends DelayedAnswers {
  readonly #begin: () => void;

  constructor(begin: () => void) {
    super();
    this.#begin = begin;
  }

  override hold(end: () => void): () => void {
    this.#begin();
    return super.hold(end);
  }
}

/** A world whose log is in a store that many servers share. */
export class ValkeyWorld implements WorldHandle {
  readonly id: string;
  readonly delayed: DelayedAnswers;
  readonly releases = new Releases();
  readonly journal: StoredJournal;
  readonly #parts: WorldParts;
  readonly #log: LogFollower;
  readonly #events: StoredEvents;
  readonly #commandParts: CommandParts;
  #stopFollowing: (() => void) | null = null;

  constructor(id: string, parts: WorldParts) {
    const { store, wallClock, nextNumber } = parts;
    const keys = keysOf(id);
    this.id = id;
    this.#parts = parts;
    this.delayed = new FollowedAnswers(() => this.#follow());
    const epoch = () => this.#log.epoch;
    const beside = { keys, store, wallClock, epoch, nextNumber, keptMs: keptMs(parts.idleMs) };
    this.#events = new StoredEvents(beside);
    this.#commandParts = new CommandParts(wallClock);
    this.#log = new LogFollower(id, parts, {
      applied: (event, isOwn) => this.#publish(event, isOwn),
      replaced: () => {
        this.delayed.release();
        this.releases.clear();
      },
      due: () => this.#settle(),
      changed: () => parts.changed(this),
      closed: () => this.#end(),
    });
    this.journal = new StoredJournal({
      ...beside,
      isKept: () => !this.isClosed,
      generation: () => this.latest.generation,
      asked: () => this.#log.asked,
      look: () => this.#log.look(),
      limits: parts.journalLimits,
    });
  }

  get latest(): Readonly<WorldState> {
    return this.#log.state;
  }

  get nowMs(): number {
    const { clock, wallMs } = this.latest;
    return worldTimeMs(clock, Math.max(wallMs, this.#log.storeNowMs));
  }

  get epoch(): string {
    return this.#log.epoch;
  }

  get openedAtMs(): number {
    return this.#log.openedAtMs;
  }

  /** The name of the latest command that this server has applied. */
  get latestCommand(): string {
    return this.#log.latestCommand;
  }

  get isNew(): boolean {
    return this.#log.isNew;
  }

  get isClosed(): boolean {
    return this.#log.isClosed;
  }

  /** Whether this server can forget the world, which stays in the store, without losing anything. */
  get isIdle(): boolean {
    return this.#log.isIdle && this.journal.isIdle && this.#events.isIdle && this.delayed.isEmpty;
  }

  /** Opens the world. @param source the scenario of a new one; null to make none. @returns whether it exists */
  async open(source: ScenarioSource | null): Promise<boolean> {
    return this.#log.open(source);
  }

  /** Catches up with the other servers. @param begins whether a request of the service begins */
  async catchUp(begins: boolean): Promise<void> {
    const nth = await this.#log.look(begins);
    const source = this.#parts.successorOf(this.latest);
    if (source !== null) await this.submit({ kind: 'follow', source });
    if (begins) this.journal.expect(nth);
  }

  async submit<C extends Command>(
    command: C,
    onChanges?: (changes: readonly Change[]) => void,
  ): Promise<ResultOf<C>> {
    if (command.kind === 'settle') return this.read(clockResult) as Promise<ResultOf<C>>;
    return this.#submit(command, onChanges);
  }

  async read<T>(look: (state: Readonly<WorldState>) => T): Promise<T> {
    await this.#log.look();
    if (isMoreDue(this.#log.view)) await this.#submit({ kind: 'settle' });
    return look(this.#log.view);
  }

  async watch(afterId: string | undefined, reader: EventReader): Promise<() => void> {
    const stop = await this.#events.read(afterId, reader);
    this.#follow();
    return stop;
  }

  announce(exchange: Exchange): void {
    if (this.#log.isWatched) this.#events.publish('request', journalEntry(exchange));
  }

  /** Resolves once everything that was sent is in the store. */
  async flush(): Promise<void> {
    if (!this.#log.isIdle) await this.#log.look();
    await Promise.all([this.journal.flush(), this.#events.flush()]);
  }

  /** Ends the world on this server. */
  close(reason: DropReason): void {
    this.#log.close(reason);
  }

  /** Ends the delayed answers and the readers, when the sandbox stops. */
  release(): void {
    this.delayed.release(true);
    this.#events.end();
  }

  async #submit<C extends Command>(
    command: C,
    onChanges?: (changes: readonly Change[]) => void,
  ): Promise<ResultOf<C>> {
    const collect = onChanges && ((changes: readonly Change[]) => onChanges(changes));
    try {
      return await this.#commandParts.submit(
        command,
        (part) => this.#readPurely(part) ?? this.#append(part, collect),
      );
    } finally {
      if (collect !== undefined) this.#log.stopCollecting(collect);
    }
  }

  /** The result of a command that changes nothing, so that no other server needs to know of it; null for any other. */
  #readPurely(command: Command): Applied | null {
    const { compiler, roomFor } = this.#parts;
    const { view } = this.#log;
    if (this.isClosed || !isPureRead(view, command, compiler)) return null;
    return apply(view, command, stampOf(view, view.wallMs, roomFor(this, command)), compiler);
  }

  async #append(command: Command, collect: OwnCommand['collect']): Promise<Applied> {
    const { roomFor, nextNumber } = this.#parts;
    const room = roomFor(this, command);
    if (isReplacing(command)) await this.journal.flush(); // records written later would be in the new journal
    const number = nextNumber();
    const stored = command.kind === 'restore' ? await this.#storeRestore(command, number) : command;
    const text = commandText(stored, room);
    return new Promise((applied, failed) =>
      this.#log.submit({ number, command, text, room, collect, applied, failed }),
    );
  }

  /** Stores the state of a restore outside the log, where the other servers find it. */
  async #storeRestore({ kind, state, clock }: RestoreCommand, number: number): Promise<StoredCommand> {
    const { store, idleMs } = this.#parts;
    const key = restoredKeyOf(keysOf(this.id), `${store.server}:${number}`);
    const head = { epoch: '', generation: 1, held: noneHeld(0), position: 0, name: '' };
    await writeState(store, key, head, takeSnapshot(state), idleMs);
    return { kind, clock, key };
  }

  /** Subscribes to what other servers do in this world. */
  #follow(): void {
    const { store } = this.#parts;
    this.#stopFollowing ??= store.follow(keysOf(this.id).news, (isOwn) => void this.#hear(isOwn));
  }

  async #hear(isOwn: boolean): Promise<void> {
    try {
      await this.#events.pull();
      if (!isOwn) await this.#log.look();
    } catch {
      // the store is unavailable, or the world was dropped: requests that wait get that refusal
    }
    if (!this.delayed.isEmpty || this.#events.hasReaders) return;
    this.#stopFollowing?.();
    this.#stopFollowing = null;
  }

  #publish(event: StateEvent, isOwn: boolean): void {
    this.releases.take(event, isOwn);
    if (!isOwn) return;
    if (event.type === 'settlement') this.#parts.observer.settled(this.id, event.change);
    if (this.#log.isWatched) this.#events.publish(event.type, eventData(event));
  }

  #settle(): void {
    this.read(() => null).catch((error: unknown) => {
      if (!(error instanceof Refusal)) this.#parts.observer.failed(this.id, error); // the world has ended, or its store is unavailable
    });
  }

  #end(): void {
    this.#stopFollowing?.();
    this.delayed.close();
    this.#events.end();
    this.#parts.ended(this);
  }
}
