import type { Change } from '../payout/payout.ts';
import type { Applied, ResultOf } from '../world/apply.ts';
import { isReplacing, type Command, type CommandOf } from '../world/commands.ts';
import { isMoreDue, nextDueMsOf } from '../world/ledger.ts';
import type { Ended } from '../world/request/request-commands.ts';
import { nowMs, type WorldState } from '../world/state.ts';
import { undoHeld } from '../world/undo.ts';
import { CommandParts, type OnChanges, type OnFound, type OrderedCommand } from './command-parts.ts';
import { WorldConnections } from './connections/world-connections.ts';
import { dropped } from './dropped.ts';
import { idOf, type EventReader } from './connections/event-reader.ts';
import { when, type DropReason, type Logged, type MaybePromise, type Opened } from './store.ts';
import { STORE_TIMES } from './store-times.ts';
import { clockOf, onceLater, SettlementTimer } from './wall-clock.ts';
import { WorldLog } from './world-log.ts';
import type { Reopened, WorldParts } from './world-parts.ts';

const ENDS_KEPT = 100;

/** One world on this server: its log, and what belongs to the connections of this server. */
export class World {
  readonly id: string;
  readonly connections: WorldConnections;
  usedAtMs: number;
  /** When and why payouts of this id were dropped, until the world is reset; null as far as that is known. */
  droppedBefore: string | null = null;
  readonly #parts: WorldParts<World>;
  readonly #timer: SettlementTimer;
  readonly #log: WorldLog;
  readonly #commands: CommandParts;
  readonly #tellEnds: () => void;
  #users = 0;

  constructor(id: string, parts: WorldParts<World>, opened: Opened, state: WorldState) {
    const { store, wallClock } = parts;
    this.id = id;
    this.#parts = parts;
    const owner = {
      roomFor: (command: Command) => parts.roomFor(this, command),
      happened: this.#happened.bind(this),
      remember: ({ events }: Applied) => this.connections.remember(this.latest.eventCount, events),
      followed: () => {
        this.#setTimer();
        parts.changed(this);
      },
      reopened: (how: Reopened) => this.#reopened(how),
      ended: (reason: DropReason) => parts.ended(this, reason),
    };
    this.#log = new WorldLog(id, parts, owner, opened, state);
    this.#commands = new CommandParts(wallClock, (command, onChanges, onFound) =>
      this.#order(command, onChanges, onFound),
    );
    this.#tellEnds = onceLater(wallClock, STORE_TIMES.end, () => {
      if (!this.isClosed && this.#log.ends.length > 0) this.#settle();
    });
    this.usedAtMs = store.nowMs();
    this.connections = new WorldConnections(
      (woken) => store.wake(id, woken),
      () => this.#settleDue(),
      (error) => parts.observer.failed(id, error),
    );
    const storeClock = clockOf(store, wallClock, () => (this.#log.isOwn ? 0 : STORE_TIMES.othersWait));
    this.#timer = new SettlementTimer(storeClock, () => this.#settleDue());
    this.#setTimer();
  }

  get epoch(): string {
    return this.#log.epoch;
  }

  /** The position of the latest command that this server has applied. */
  get position(): number {
    return this.#log.place.position;
  }

  get openedAtMs(): number {
    return this.#log.openedAtMs;
  }

  /** The state as this server knows it. Never keep it. */
  get latest(): Readonly<WorldState> {
    return this.#log.state;
  }

  /** World time, ms since the epoch. */
  get nowMs(): number {
    return nowMs(this.#view());
  }

  /** Whether other servers may change it. */
  get isShared(): boolean {
    return this.#parts.store.directory !== null;
  }

  get isClosed(): boolean {
    return this.#log.closed !== null;
  }

  /** Whether this server can forget the world without losing anything that belongs to it. */
  get isIdle(): boolean {
    return !this.isInUse && !this.#log.isBusy && this.connections.isEmpty;
  }

  /** A request, or a look at the world, has found it and keeps it until `leave`. */
  enter(): void {
    this.#users += 1;
  }

  leave(): void {
    this.#users -= 1;
  }

  get isInUse(): boolean {
    return this.#users > 0;
  }

  /**
   * Orders one command and applies it.
   *
   * @param onChanges called with the steps that the command applied, part by part: there may be a million
   * @param onFound called with its result when it was applied although it was refused with STORE_UNAVAILABLE
   * @returns its result: at once, unless a store elsewhere has to be asked
   * @throws Refusal as the command is refused; SANDBOX_FULL when the world was dropped meanwhile
   */
  submit<C extends Command>(
    command: C,
    onChanges?: OnChanges,
    onFound?: (result: ResultOf<C>) => void,
  ): MaybePromise<ResultOf<C>> {
    return this.#commands.submit(command, onChanges, onFound);
  }

  /** Notes a request that was refused before it reached the world. Nobody waits for it. @param numbered called with its number */
  note(command: CommandOf<'refused'>, numbered: (nth: number) => void): void {
    this.#log.inBackground(() => when(this.submit(command), numbered));
  }

  /**
   * Records how a request ended. Where servers share the world, an end that was to be expected goes with the next command, or within
   * `STORE_TIMES.end`: that of a response that was sent whole and at once.
   */
  end(ended: Ended, isExpected: boolean): void {
    this.#log.ends.push(ended);
    if (!this.isShared || !isExpected || this.#log.ends.length >= ENDS_KEPT) this.#settle();
    else this.#tellEnds();
  }

  /**
   * Reads the up-to-date state, with everything applied that is due by now.
   *
   * @param isUse false to read only this world, and not to make it again
   * @throws Refusal SANDBOX_FULL then, when it was dropped
   */
  read<T>(look: (state: Readonly<WorldState>) => T, isUse = true): MaybePromise<T> {
    return when(this.#catchUp(isUse), () => look(this.#view()));
  }

  /** Catches up with the other servers and with the time: orders a command only if something is due. */
  #catchUp(isUse = true): MaybePromise<unknown> {
    if (this.isShared) return this.#follow(isUse);
    if (this.#log.closed === null && this.#isCurrent()) return null;
    return this.submit({ kind: 'settle' });
  }

  async #follow(isUse: boolean): Promise<void> {
    if (this.#log.closed !== null) throw dropped(this.#log.closed);
    await this.#log.follow(isUse);
    if (!this.#isCurrent()) await this.submit({ kind: 'settle' });
  }

  /** Whether nothing has to be ordered before the state can be read. */
  #isCurrent(): boolean {
    if (this.#log.ends.length > 0 || this.#commands.isUnderWay) return false;
    const state = this.#view();
    const isHeldTooLong = state.held.waiting.some(({ untilMs }) => untilMs <= state.wallMs);
    return !isHeldTooLong && !isMoreDue(state) && this.#parts.successorOf(state) === null;
  }

  /**
   * Reads events, as they come.
   *
   * @param afterId the id of the last event that the reader has; from now on when absent
   * @returns a function that ends the reading
   * @throws Refusal TOO_MANY_READERS
   */
  async watch(afterId: string | undefined, reader: EventReader): Promise<() => void> {
    const reading = this.connections.read(reader); // counts before anything is awaited
    try {
      if (this.isShared) await this.#catchUp();
      if (this.#log.closed !== null) throw dropped(this.#log.closed);
      this.connections.listen();
      const { epoch, state } = this.#log;
      reading.begin(afterId === undefined ? idOf(epoch, state.eventCount) : undefined);
      if (afterId !== undefined) await this.connections.catchUp(reading, epoch, afterId);
      reading.start();
      return reading.stop;
    } catch (error) {
      reading.stop();
      throw error;
    }
  }

  /** How many requests, payouts and events this server keeps of its past. */
  get pastHeld(): number {
    return this.isShared ? 0 : undoHeld(this.#log.state) + this.connections.recentEvents;
  }

  forgetPast(): void {
    this.connections.forgetRecent();
    this.#log.inBackground(() => this.submit({ kind: 'forgetUndo' }));
  }

  forgetRequests(): void {
    this.#log.inBackground(() => this.submit({ kind: 'forget', as: 'evicted' }));
    this.connections.forgetRecent(); // one was added
  }

  /** Ends the world on this server, with its timer, its delayed responses and its readers. */
  close(reason: DropReason): void {
    if (this.#log.closed !== null) return;
    this.#log.close(reason);
    this.#timer.set(null, this.#log.state.clock);
    this.connections.close();
  }

  /** Resolves once everything that was ordered is in the store, and a state from which the world is quickly read again. */
  async flush(): Promise<void> {
    if (this.#log.closed !== null) return;
    if (this.#log.isBusy) await this.submit({ kind: 'settle' });
    await this.#log.keepLatest();
  }

  /** The state at this moment: its time is that of the store. */
  #view(): WorldState {
    const wallMs = Math.max(this.#log.state.wallMs, this.#parts.store.nowMs());
    return { ...this.#log.state, wallMs };
  }

  #order(command: Command, onChanges: OnChanges | undefined, onFound?: OnFound): MaybePromise<Applied> {
    if (this.#log.closed !== null) throw dropped(this.#log.closed);
    const { successorOf } = this.#parts;
    const source = command.kind === 'follow' ? null : successorOf(this.#log.state);
    if (source !== null) this.#log.inBackground(() => this.submit({ kind: 'follow', source }));
    return this.#log.order(command, onChanges, onFound);
  }

  #reopened({ isNew, isSame, isSkipped, isReplaced }: Reopened): MaybePromise<void> {
    if (isReplaced) this.connections.endHeldBack();
    if (isReplaced && isSame) this.droppedBefore = null;
    if (!isSame) this.connections.endReaders();
    else if (isSkipped) this.connections.miss(this.#log.epoch, this.#log.state.eventCount);
    if (!isSame) return this.#parts.remade(this, isNew);
  }

  #happened({ command, stamp }: Logged, outcome: Applied, item: OrderedCommand | null): void {
    const { observer, store } = this.#parts;
    const isOwn = stamp.server === store.server;
    const goesOn = command.kind === 'undo' && !command.isForced; // and so do its requests
    const isReplaced = outcome.kind === 'done' && isReplacing(command);
    if (isReplaced) this.droppedBefore = null;
    if (isReplaced && !goesOn) this.connections.endHeldBack();
    const changes: Change[] = [];
    for (const event of outcome.events) {
      if (event.type !== 'settlement') continue;
      changes.push(event.change);
      if (isOwn) observer.settled(this.id, event.change);
    }
    const { epoch, state } = this.#log;
    this.connections.publish(epoch, state.eventCount, outcome.events, isOwn);
    this.#commands.tell(changes, item?.onChanges);
  }

  #settle(): void {
    this.#log.inBackground(() => this.submit({ kind: 'settle' }));
  }

  /** Applies what is due. Where other servers may have done so, it asks before it orders a command. */
  #settleDue(): void {
    if (!this.isShared) this.#settle();
    else this.#log.inBackground(() => this.read(() => null, false));
  }

  #setTimer(): void {
    if (this.#log.closed === null) this.#timer.set(nextDueMsOf(this.#log.state), this.#log.state.clock);
  }
}
