import { Refusal } from '../contract/errors.ts';
import type { ScenarioSource } from '../scenario/scenario.ts';
import { apply, type Applied } from '../world/apply.ts';
import { isUse, type Command } from '../world/commands.ts';
import type { Ended } from '../world/request/request-commands.ts';
import { freeze } from '../world/copy.ts';
import type { WorldState } from '../world/state.ts';
import { dropped, unavailable } from './dropped.ts';
import { OrderedCommand, type OnChanges, type OnFound } from './command-parts.ts';
import { thawed } from './thawed-state.ts';
import type { Appended, DropReason, Logged, MaybePromise, Opened, Place } from './store.ts';
import type { LogOwner, LogParts } from './world-parts.ts';

/** A caller that waits until the state is up to date. */
interface Waiting {
  /** Whether a world that was dropped is made again for it. */
  readonly isUse: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const MOST_AT_ONCE = 200;
const MOST_RELOADS = 5;
/** Ends that could not be recorded while the store was unavailable, and commands that may have been. */
const MOST_ENDS = 1000;
const MOST_LOST = 1000;
const COMMANDS_AT_ONCE = 50;
/** How many payouts of a state that is restored take as long as a command, beside those that any restore takes. */
const PAYOUTS_A_COMMAND = 40;
const COMMANDS_A_RESTORE = 100;
/** A server that stops keeps the state of a world with so many commands since the latest one. */
const KEPT_AT_STOP = 1000;
const OTHERS_WAIT_COMMANDS = 100; // a state is kept by the server of the latest command; the others step in after this

/**
 * The state of one world on this server, which is what its log makes of it. Commands go to the store, which orders them; what
 * comes back is applied in that order. One call is under way at a time, and what comes meanwhile goes with the next.
 */
export class WorldLog {
  epoch: string;
  openedAtMs: number;
  state: WorldState;
  /** The latest command that was applied. */
  place: Place;
  closed: DropReason | null = null;
  /** The requests that have ended since the latest command. */
  ends: Ended[] = [];
  readonly #worldId: string;
  readonly #parts: LogParts;
  readonly #owner: LogOwner;
  readonly #queue: OrderedCommand[] = [];
  readonly #waiting: Waiting[] = [];
  /** Commands whose callers were refused with STORE_UNAVAILABLE, by number: they may be in the log. */
  readonly #lost = new Map<number, OrderedCommand>();
  /** The last command that has happened: a world that is opened again applies earlier ones once more. */
  #happened: number;
  /** The position of the state from which this server has followed the log. */
  #base: number;
  /** How much a server that opens the world has to apply, in commands, since the latest state that was kept. */
  #sinceKept = 0;
  #isCalling = false;

  constructor(worldId: string, parts: LogParts, owner: LogOwner, opened: Opened, state: WorldState) {
    this.#worldId = worldId;
    this.#parts = parts;
    this.#owner = owner;
    this.epoch = opened.epoch;
    this.openedAtMs = opened.openedAtMs;
    this.state = state;
    this.place = opened.base;
    this.#base = opened.base.position;
    this.#happened = opened.isNew ? 0 : Infinity; // what it has been through is no news
  }

  /** Whether something is on its way to the store, or waits for the next call. */
  get isBusy(): boolean {
    return this.#isCalling || this.#queue.length > 0 || this.ends.length > 0;
  }

  /** Whether a command of this server came last. */
  get isOwn(): boolean {
    return this.place.name.startsWith(this.#parts.store.server);
  }

  /** Orders a command and applies it. @returns its outcome: at once, unless a store elsewhere has to be asked */
  order(command: Command, onChanges: OnChanges | undefined, onFound?: OnFound): MaybePromise<Applied> {
    const { store, nextNumber } = this.#parts;
    const { ends } = this;
    this.ends = [];
    const { maxRecords, records, scenarioCharactersFree, keep } = this.#owner.roomFor(command);
    const stamp = { server: store.server, maxRecords, records, scenarioCharactersFree, keep, ends };
    const item = new OrderedCommand(nextNumber(), command, stamp, onChanges);
    item.onFound = onFound;
    this.#queue.push(item);
    this.#call();
    return item.outcome();
  }

  /** Applies what other servers have ordered. @param isUse whether a world that was dropped is made again */
  follow(isUse: boolean): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push({ isUse, resolve, reject });
      this.#call();
    });
  }

  close(reason: DropReason): void {
    this.closed = reason;
    this.#failWaiting(reason);
  }

  /** Does something that nobody waits for. A refusal was told to others: the world has ended, or its store is unavailable. */
  inBackground(work: () => MaybePromise<unknown>): void {
    const failed = (error: unknown): void => {
      if (!(error instanceof Refusal)) this.#parts.observer.failed(this.#worldId, error);
    };
    try {
      const working = work();
      if (working instanceof Promise) working.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Sends what waits to the store, and applies what comes back. */
  #call(): void {
    if (this.#isCalling || (this.#queue.length === 0 && this.#waiting.length === 0)) return;
    const items = this.#queue.splice(0, MOST_AT_ONCE);
    const appended = this.#append(items);
    if (!(appended instanceof Promise)) return this.#take(appended, items);
    this.#isCalling = true;
    void this.#await(appended, items, this.#waiting.splice(0));
  }

  #append(items: readonly OrderedCommand[]): MaybePromise<Appended> {
    return this.#parts.store.append(this.#worldId, this.epoch, this.place, items);
  }

  async #await(
    appending: Promise<Appended>,
    items: readonly OrderedCommand[],
    waiting: readonly Waiting[],
  ): Promise<void> {
    try {
      const isUsed = waiting.some((one) => one.isUse) || items.some(({ command }) => isUse(command));
      await this.#complete(appending, items, isUsed);
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      for (const item of items) if (!item.isSettled) this.#fail(item, error);
      for (const { reject } of waiting) reject(error);
    }
    this.#isCalling = false;
    if (this.closed !== null) this.#failWaiting(this.closed);
    this.#call();
  }

  /** Calls the store until all commands are applied. @param isUsed whether the world is made again if it was dropped */
  async #complete(
    first: Promise<Appended>,
    items: readonly OrderedCommand[],
    isUsed: boolean,
  ): Promise<void> {
    let appended = await first;
    let isUnsure = false; // whether the commands may be in the log already
    for (let reloads = 0; ;) {
      const before = this.place.position;
      if (appended.kind === 'more' || appended.kind === 'moved') isUnsure ||= appended.isUnsure;
      if ('commands' in appended) {
        await this.#takeInTurns(appended.commands, items);
        if (appended.kind === 'done') return this.#applied(items);
      } else {
        reloads += 1;
        if (reloads > MOST_RELOADS) throw unavailable();
        await this.#readAnew(appended, items, isUsed);
        const isSkipped = this.#base > before;
        if (isUnsure && isSkipped && items.length > 0) throw unavailable(); // they may be in the part that was skipped
      }
      appended = await this.#append(items.filter(({ isSettled }) => !isSettled));
    }
  }

  /** Reads the world again, which others have moved or dropped, or the store has lost. @throws Refusal when it is gone */
  async #readAnew(appended: Appended, items: readonly OrderedCommand[], isUsed: boolean): Promise<void> {
    if (appended.kind !== 'gone') return void (await this.#reload(null));
    const mayBeThere = this.closed === null && (isUsed || appended.reason === 'lost'); // of a lost one, older data may be left
    if (mayBeThere && (await this.#reload(isUsed ? this.#parts.activeSource() : null))) return;
    this.#take(appended, items);
    throw dropped(this.closed!);
  }

  #fail(item: OrderedCommand, error: unknown): void {
    this.ends = [...item.stamp.ends, ...this.ends].slice(-MOST_ENDS); // they go with a later command
    if (item.onFound !== undefined) this.#lost.set(item.number, item);
    if (this.#lost.size > MOST_LOST) this.#lost.delete(this.#lost.keys().next().value!);
    item.fail(error);
  }

  #failWaiting(reason: DropReason): void {
    for (const item of this.#queue.splice(0)) item.fail(dropped(reason));
    for (const { reject } of this.#waiting.splice(0)) reject(dropped(reason));
  }

  #take(appended: Appended, items: readonly OrderedCommand[]): void {
    if (appended.kind === 'gone') {
      for (const item of items) item.fail(dropped(appended.reason));
      return this.#owner.ended(appended.reason);
    }
    if (appended.kind !== 'done') return;
    for (const logged of appended.commands) this.#applyOwn(logged, items);
    this.#applied(items);
  }

  async #takeInTurns(commands: readonly Logged[], items: readonly OrderedCommand[]): Promise<void> {
    for (const [nth, logged] of commands.entries()) {
      if (nth > 0 && nth % COMMANDS_AT_ONCE === 0) await this.#parts.wallClock.yieldToEventLoop();
      this.#applyOwn(logged, items);
    }
  }

  #applyOwn(logged: Logged, sent: readonly OrderedCommand[]): void {
    const { number, stamp } = logged;
    if (stamp.server !== this.#parts.store.server) return this.#apply(logged, null);
    const item = sent.find((one) => one.number === number);
    this.#apply(logged, item ?? this.#lost.get(number) ?? null);
    this.#lost.delete(number);
  }

  #applied(items: readonly OrderedCommand[]): void {
    if (this.#happened === Infinity) this.#happened = this.place.position;
    this.#owner.followed();
    for (const item of items) if (!item.isSettled) item.fail(new Error('a command is missing in its log'));
  }

  /** Applies the next command of the log. @param item set for a command of this server that somebody waits for */
  #apply(logged: Logged, item: OrderedCommand | null): void {
    const { compiler, observer, store } = this.#parts;
    const { command, stamp, position, name } = logged;
    this.place = { position, name };
    let outcome: Applied;
    try {
      outcome = apply(this.state, command, stamp, compiler);
    } catch (error) {
      if (item === null) observer.failed(this.#worldId, error);
      else item.fail(error);
      return;
    }
    const isOwn = stamp.server === store.server;
    if (isOwn && isUse(command)) this.#parts.used();
    if (position > this.#happened || item !== null) {
      this.#happened = position;
      this.#owner.happened(logged, outcome, item);
    } else this.#owner.remember(outcome);
    if (store.directory !== null) this.#keepAtTimes(logged);
    item?.settle(outcome);
  }

  /** Keeps a state in the store now and then, so that a server that opens the world has little to apply. */
  #keepAtTimes({ command, stamp }: Logged): void {
    const { store } = this.#parts;
    const isOwn = stamp.server === store.server;
    const { length: payouts } = this.state.payouts;
    if (command.kind === 'forgetUndo') {
      this.#sinceKept = 0;
      if (isOwn) this.inBackground(() => this.#keep());
      return;
    }
    this.#sinceKept += command.kind === 'restore' ? COMMANDS_A_RESTORE + payouts / PAYOUTS_A_COMMAND : 1;
    if (this.#sinceKept < store.compactAfter(payouts) + (isOwn ? 0 : OTHERS_WAIT_COMMANDS)) return;
    this.#sinceKept = 0;
    this.inBackground(() => this.keepState());
  }

  /** Orders what lets a state be kept: one has nothing that could be undone, so that all servers know the same. */
  keepState(): MaybePromise<unknown> {
    return this.order({ kind: 'forgetUndo' }, undefined);
  }

  #keep(): MaybePromise<void> {
    const frozen = freeze(this.state);
    return this.#parts.store.compact(this.#worldId, this.epoch, { ...this.place, state: () => frozen });
  }

  /** Keeps the state for the next server, if that would have to apply many commands. */
  keepLatest(): MaybePromise<unknown> {
    return this.#sinceKept < KEPT_AT_STOP ? undefined : this.keepState();
  }

  /** Opens the world again. @param source the scenario of a new one; null to make none @returns whether there is one */
  async #reload(source: ScenarioSource | null): Promise<boolean> {
    const opened = await this.#parts.store.open(this.#worldId, source);
    if (opened === null) return false; // the next call finds that it is gone
    const isSame = opened.epoch === this.epoch;
    const { position } = opened.base;
    const isSkipped = isSame && position > this.place.position;
    const state = await thawed(opened.base.state(), this.#parts);
    const isReplaced = !isSame || (isSkipped && state.generation !== this.state.generation);
    this.epoch = opened.epoch;
    this.openedAtMs = opened.openedAtMs;
    this.state = state;
    this.place = opened.base;
    this.#base = position;
    this.#sinceKept = 0;
    this.#happened = isSame ? Math.max(this.#happened, position) : Infinity;
    await this.#owner.reopened({ isNew: opened.isNew, isSame, isSkipped, isReplaced });
    return true;
  }
}
