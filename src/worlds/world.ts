import type { ScenarioSource } from '../contract/snapshot.ts';
import { Refusal } from '../contract/errors.ts';
import type { Change } from '../payout/payout.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { apply, type Applied, type ResultOf, isReplacing, isUse } from '../world/apply.ts';
import type { Command, Room, Stamp } from '../world/commands.ts';
import type { StateEvent } from '../world/events.ts';
import { isMoreDue } from '../world/ledger.ts';
import type { Ended } from '../world/request/request-commands.ts';
import type { WorldState } from '../world/state-shape.ts';
import { NOTHING } from './capacity.ts';
import {
  dropped,
  type DropReason,
  type How,
  type Opened,
  type Order,
  type Reopened,
  type WorldObserver,
} from './order.ts';
import type { WallClock } from './wall-clock.ts';
import { WorldConnections, type EventReader } from './world-connections.ts';

type OnPart = (applied: Applied) => void;

/** Makes the order of a world. */
export type OrderOf = (world: World) => Order;

/** What all worlds of a server share. */
export interface WorldParts {
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
  /** The scenario that a world should follow from now on; null while it has the right one. */
  readonly successorOf: (state: WorldState) => ScenarioSource | null;
  /** How much the world may hold. @throws Refusal SANDBOX_FULL without enough room for a restore */
  readonly roomFor: (world: World, command: Command) => Room;
  /** A command was applied: the world may hold more or less than before. @param isUse whether this server's client sent it */
  readonly changed: (world: World, isUse: boolean) => void;
  /** It has ended elsewhere. */
  readonly ended: (world: World, reason: DropReason) => void;
  /** Its store has lost it, or the end of it. */
  readonly lost: (world: World) => void;
}

/** One world on this server: a command is put in order, applied, and its events are published. */
export class World {
  readonly id: string;
  readonly connections: WorldConnections;
  epoch: string;
  usedAtMs: number;
  /** The state as this server knows it. Never keep it. */
  latest: Readonly<WorldState>;
  /** Why it has ended on this server; null while it has not. */
  closed: DropReason | null = null;
  /** When and why payouts of this id were dropped, until the world is reset; null as far as that is known. */
  droppedBefore: string | null = null;
  /** What it held after its latest command. */
  size = NOTHING;
  /** Its last use in the list of a store. */
  notedAtMs = 0;
  /** Whether it was only opened for callers that look at it: it is forgotten after the last one. */
  isVisitOnly = false;
  readonly #parts: WorldParts;
  readonly #order: Order;
  /** Set while a command is applied in several parts: a promise of its end. */
  #unfinished: { readonly done: Promise<void>; readonly end: () => void } | null = null;
  #users = 0;

  constructor(id: string, parts: WorldParts, { epoch, state }: Opened, orderOf: OrderOf) {
    this.id = id;
    this.epoch = epoch;
    this.latest = state;
    this.#parts = parts;
    this.connections = new WorldConnections(
      () => this.#order.listen(),
      (error) => this.failed(error),
    );
    this.#order = orderOf(this);
    this.usedAtMs = this.#order.nowMs();
  }

  /** The position of the latest command that this server has applied. */
  get position(): number {
    return this.#order.position;
  }

  /** Whether this server can forget the world without losing anything that belongs to it. */
  get isIdle(): boolean {
    return !this.isInUse && !this.#order.isBusy && this.connections.isEmpty;
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
   * Orders one command, applies it and publishes its events. In memory, it has been applied when this returns.
   *
   * @param onPart called with the outcome of the command, or of each of its parts
   * @returns its result
   * @throws Refusal as the command is refused; SANDBOX_FULL when the world was dropped meanwhile; STORE_UNAVAILABLE
   */
  async submit<C extends Command>(command: C, onPart?: OnPart): Promise<ResultOf<C>> {
    while (this.#unfinished !== null && !isReplacing(command)) await this.#unfinished.done;
    let applied = await this.#submitPart(command);
    onPart?.(applied);
    if (applied.kind === 'unfinished') applied = await this.#finish(applied.next, onPart);
    if (applied.kind === 'refused') throw new Refusal(applied.refusal.code, applied.refusal.details);
    return applied.result as ResultOf<C>;
  }

  /** Does something that nobody waits for. A refusal was told to others: the world has ended, or its store is unavailable. */
  inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!(error instanceof Refusal)) this.failed(error);
    });
  }

  /** Records how a request ended. @param isLate its response had to wait: other servers should know at once */
  end(ended: Ended, isLate = false): void {
    this.#order.end(ended, isLate);
  }

  /**
   * Reads the up-to-date state, with everything applied that is due by now.
   *
   * @param isUse false to read only this world, and not to make it again
   * @throws Refusal SANDBOX_FULL then, when it was dropped
   */
  async read<T>(look: (state: Readonly<WorldState>) => T, isUse = true): Promise<T> {
    if (this.closed !== null) throw dropped(this.closed);
    await this.#order.follow(isUse);
    if (!this.#isCurrent()) await this.submit({ kind: 'settle' });
    return look(this.#view());
  }

  /** The same without a use of the world. @returns null when it was dropped meanwhile */
  async peek<T>(look: (state: Readonly<WorldState>) => T): Promise<T | null> {
    try {
      return await this.read(look, false);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'SANDBOX_FULL') return null;
      throw error;
    }
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
      await this.#order.follow(true);
      if (this.closed !== null) throw dropped(this.closed);
      this.#order.listen();
      this.connections.begin(reading, this.epoch, this.latest, afterId);
      return reading.stop;
    } catch (error) {
      reading.stop();
      throw error;
    }
  }

  /** Ends the world on this server, with its delayed responses and its readers. */
  close(reason: DropReason): void {
    if (this.closed !== null) return;
    this.closed = reason;
    this.#order.close(reason);
    this.connections.close();
  }

  /** See `Order.flush`. */
  async flush(): Promise<void> {
    if (this.closed === null) await this.#order.flush();
  }

  /** Applies the next command of the order. @throws Error for a bug of the sandbox */
  apply(command: Command, stamp: Stamp, how: How): Applied {
    const { isOwn, isNews, isAwaited } = how;
    const outcome = apply(this.latest, command, stamp, this.#parts.compiler);
    if (outcome.kind === 'unfinished' && isAwaited) this.#unfinished ??= untilEnd();
    const isReplaced = outcome.kind === 'done' && isReplacing(command);
    if (isNews && isReplaced) {
      this.droppedBefore = null;
      const goesOn = command.kind === 'undo' && !command.isForced; // and so do its requests
      if (!goesOn) this.connections.wake('reset');
    }
    this.#publish(outcome.events, how);
    this.#parts.changed(this, isOwn && isUse(command));
    return outcome;
  }

  /** It was read again from its store. */
  reopened({ isSame, isSkipped, epoch, state }: Reopened): void {
    const isReplaced = !isSame || (isSkipped && state.generation !== this.latest.generation);
    Object.assign(this, { epoch, latest: state });
    if (isReplaced) this.connections.wake('reset');
    if (isReplaced && isSame) this.droppedBefore = null;
    if (!isSame) {
      this.connections.endReaders();
      this.connections.recent.clear(state.eventCount);
    } else if (isSkipped) this.connections.miss(epoch, state.eventCount);
  }

  /** It was dropped elsewhere. */
  ended(reason: DropReason): void {
    this.#parts.ended(this, reason);
  }

  /** The store has come back with older data of it, or without it. */
  lost(): void {
    this.#parts.lost(this);
  }

  /** Something that nobody waits for has failed, which is a bug. */
  failed(error: unknown): void {
    this.#parts.observer.failed(this.id, error);
  }

  #publish(events: readonly StateEvent[], { isOwn, isNews }: How): void {
    this.connections.publish(this.epoch, this.latest, events, isNews);
    if (!isNews || !isOwn) return;
    for (const event of events) if (event.type === 'settlement') this.#report(event.change);
  }

  /** What fails here is no failure of the command, which has been applied. */
  #report(change: Change): void {
    try {
      this.#parts.observer.settled(this.id, change);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Whether nothing has to be ordered before the state can be read. */
  #isCurrent(): boolean {
    if (this.#unfinished !== null) return false;
    const state = this.#view();
    if (isFast(state.clock)) return false;
    const isHeldTooLong = state.held.waiting.some(({ untilMs }) => untilMs <= state.wallMs);
    return !isHeldTooLong && !isMoreDue(state) && this.#parts.successorOf(state) === null;
  }

  /** The state at this moment; of a fast clock at the latest command, since only what orders commands knows the time so exactly. */
  #view(): Readonly<WorldState> {
    if (isFast(this.latest.clock)) return this.latest;
    return { ...this.latest, wallMs: Math.max(this.latest.wallMs, this.#order.nowMs()) };
  }

  #submitPart(command: Command): Promise<Applied> {
    if (this.closed !== null) throw dropped(this.closed);
    const source = command.kind === 'follow' ? null : this.#parts.successorOf(this.latest);
    if (source !== null) this.inBackground(this.#submitPart({ kind: 'follow', source }));
    return this.#order.submit(command, this.#parts.roomFor(this, command));
  }

  /** Orders the further parts of a command, with turns for other work in between. Other commands wait, but for a reset or a restore. */
  async #finish(command: Command, onPart?: OnPart) {
    try {
      for (let next = command; ;) {
        await this.#parts.wallClock.yieldToEventLoop();
        const applied = await this.#submitPart(next);
        onPart?.(applied);
        if (applied.kind !== 'unfinished') return applied;
        next = applied.next;
      }
    } finally {
      this.#unfinished?.end();
      this.#unfinished = null;
    }
  }
}

const isFast = ({ speed }: WorldState['clock']): boolean => speed !== 0 && speed !== 1;

function untilEnd() {
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => (end = resolve));
  return { done, end };
}
