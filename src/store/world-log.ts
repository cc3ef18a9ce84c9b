import { Refusal } from '../contract/errors.ts';
import { type Applied, isUse } from '../world/apply.ts';
import { Command, type Room } from '../world/commands.ts';
import type { Ended } from '../world/request/request-commands.ts';
import { takeSnapshot, type Snapshot } from '../world/snapshot.ts';
import { dropped, unavailable } from '../worlds/dropped.ts';
import type { DropReason, How, Opened, Order } from '../worlds/order.ts';
import type { WallClock } from '../worlds/wall-clock.ts';
import type { World } from '../worlds/world.ts';
import type { WorldKeys } from './scripts.ts';
import type { StoredState } from './stored-state.ts';
import { STORE_TIMES } from './store-times.ts';
import type { Logged, Seen } from './stored-command.ts';

/** A world as the store has it. */
export interface StoreWorld extends Opened {
  readonly seen: Seen;
  readonly keys: WorldKeys;
  /** How many characters its snapshot has; 0 for the first state of a world, which follows from its scenario. */
  readonly characters: number;
}

/** A command of this server on its way to the log. */
export interface Item {
  readonly number: number;
  command: Command;
  readonly room: Room;
  /** The state that it restores, once that is stored beside the log. */
  restored: StoredState | undefined;
  readonly resolve: (applied: Applied) => void;
  readonly reject: (error: unknown) => void;
}

/** What an append returns. */
export type Appended =
  /** The commands that the server had not seen; its own come after them. With `more` there are more, and its own were not appended. */
  | {
      readonly kind: 'done' | 'more';
      readonly commands: readonly Logged[];
      readonly nowMs: number;
      /** How many characters its own have in all. */
      readonly characters: number;
    }
  /** The log does not continue what the server has seen: it was trimmed, the world was dropped or is not there, or it has lost its end. */
  | { readonly kind: 'behind' | 'gone' | 'missing' | 'lost' };

/** The store, as the log of one world uses it. */
export interface LogStore {
  readonly server: string;
  readonly wallClock: WallClock;
  /** A world that was not used for this long expires, in ms. */
  readonly idleMs: number;
  nowMs(): number;
  nextNumber(): number;
  /** Appends commands to a log; without any, it returns what is new. @param seen what this server has applied @param isUsed as for the world */
  append(keys: WorldKeys, seen: Seen, items: readonly Item[], isUsed: boolean): Promise<Appended>;
  /** Reads a world again. @param isMade whether a new one is made where there is none */
  read(worldId: string, isMade: boolean): Promise<StoreWorld | null>;
  /**
   * Makes a state the snapshot of its world, and trims the log, unless another server was quicker.
   *
   * @param restored the states of restores before it, which are no longer needed
   * @returns its characters
   */
  keep(keys: WorldKeys, at: Seen, state: Snapshot, restored: readonly StoredState[]): Promise<number>;
  /** Asks regularly for what happens in a world, for as long as a connection of this server waits for that. */
  listen(world: World): void;
}

/** A caller that waits until the state is up to date. */
interface Waiting {
  /** Whether a world that was dropped is made again for it. */
  readonly isUse: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const MOST_AT_ONCE = 200;
const MOST_RELOADS = 5;
/** Ends that could not be recorded while the store was unavailable. */
const MOST_ENDS = 1000;
const COMMANDS_AT_ONCE = 50;
/** A snapshot is kept once the log since has more characters than the last one, and than this. */
const KEPT_AFTER = 1_000_000;
/** The server of the command that makes the log so long keeps the snapshot; the others step in later. */
const OTHERS_AFTER = 1.25;
/** A server that stops keeps a snapshot for the next one if the log has so much of what would make it do so. */
const KEPT_AT_STOP = 0.25;

/**
 * The log of one world in the store, as one server follows it. Its commands go to the log, which orders them; what comes back is
 * applied in that order. One call is under way at a time, and what comes meanwhile goes with the next. Nothing is sent twice: a
 * command whose reply was lost may be in the log, and is then applied like any other.
 */
export class WorldLog implements Order {
  readonly #world: World;
  readonly #store: LogStore;
  readonly #keys: WorldKeys;
  /** The latest command that was applied. */
  #seen: Seen;
  /** How many characters the latest snapshot has, as far as this server knows. */
  #kept: number;
  /** The states beside the log that restores have put in place since the latest snapshot of this server. */
  #restored: StoredState[] = [];
  /** How many characters the log has had since a server ordered the latest snapshot. */
  #characters = 0;
  /** The position of the last command that is news. */
  #happened: number;
  /** When this server has used the world last. */
  #usedAtMs: number;
  readonly #queue: Item[] = [];
  readonly #waiting: Waiting[] = [];
  #ends: Ended[] = [];
  #isEnding = false;
  #calling: Promise<void> | null = null;
  #keeping: Promise<void> | null = null;

  constructor(world: World, store: LogStore, { isNew, keys, seen, characters }: StoreWorld) {
    this.#world = world;
    this.#store = store;
    this.#keys = keys;
    this.#seen = seen;
    this.#kept = characters;
    this.#happened = isNew ? 0 : Infinity; // what it has been through is no news
    this.#usedAtMs = isNew ? store.nowMs() : -Infinity;
  }

  get position(): number {
    return this.#seen.position;
  }

  nowMs(): number {
    return this.#store.nowMs();
  }

  get isBusy(): boolean {
    return this.#calling !== null || this.#keeping !== null || this.#ends.length > 0;
  }

  submit(given: Command, room: Room): Promise<Applied> {
    if (given.kind !== 'end' && this.#ends.length > 0)
      this.#world.inBackground(this.#push({ kind: 'end', ends: this.#ends.splice(0) }, room));
    // what other servers read has the order of its schema: nobody's snapshot differs
    const isInOrder = given.kind === 'restore' || given.kind === 'end' || 'request' in given;
    const applied = this.#push(isInOrder ? given : Command.parse(given), room);
    this.#call();
    return applied;
  }

  #push(command: Command, room: Room): Promise<Applied> {
    return new Promise((resolve, reject) => {
      const number = this.#store.nextNumber();
      this.#queue.push({ number, command, room, restored: undefined, resolve, reject });
    });
  }

  end(ended: Ended, isLate: boolean): void {
    this.#ends.push(ended);
    if (isLate) this.#world.inBackground(this.#sendEnds());
    else this.#endLater();
  }

  #endLater(afterMs = STORE_TIMES.end): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const { wallClock } = this.#store;
    wallClock.schedule(wallClock.nowMs() + afterMs, () => {
      this.#isEnding = false;
      this.#world.inBackground(this.#sendEnds());
    });
  }

  async #sendEnds(): Promise<void> {
    if (this.#ends.length > 0) await this.#world.submit({ kind: 'end', ends: this.#ends.splice(0) });
  }

  async follow(isUse: boolean): Promise<void> {
    if (this.#ends.length > 0) return this.#sendEnds();
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ isUse, resolve, reject });
      this.#call();
    });
  }

  listen(): void {
    this.#store.listen(this.#world);
  }

  async flush(): Promise<void> {
    await this.#sendEnds();
    await this.#calling;
    if (this.#characters > KEPT_AT_STOP * this.#keptAfter) await this.#world.submit({ kind: 'forgetUndo' });
    await this.#keeping;
  }

  close(reason: DropReason): void {
    for (const item of this.#queue.splice(0)) item.reject(dropped(reason));
    for (const { reject } of this.#waiting.splice(0)) reject(dropped(reason));
  }

  #call(): void {
    this.#calling ??= this.#callWhileNeeded();
  }

  async #callWhileNeeded(): Promise<void> {
    while (this.#queue.length > 0 || this.#waiting.length > 0) {
      const items = this.#queue.splice(0, MOST_AT_ONCE);
      const waiting = this.#waiting.splice(0);
      try {
        await this.#complete(
          items,
          waiting.some((one) => one.isUse) || items.some(({ command }) => isUse(command)),
        );
        for (const { resolve } of waiting) resolve();
      } catch (error) {
        for (const item of items) this.#fail(item, error);
        for (const { reject } of waiting) reject(error);
      }
      const { closed } = this.#world;
      if (closed !== null) this.close(closed);
    }
    this.#calling = null;
  }

  /** Calls the store until all commands are applied. @param isUsed whether the world is made again if it was dropped */
  async #complete(items: readonly Item[], isUsed: boolean): Promise<void> {
    for (let reloads = 0; ;) {
      const reply = await this.#store.append(this.#keys, this.#seen, items, isUsed);
      if (reply.kind === 'done' || reply.kind === 'more') {
        await this.#takeInTurns(reply.commands);
        if (reply.kind === 'more') continue;
        if (isUsed) this.#usedAtMs = reply.nowMs;
        if (this.#happened === Infinity) this.#happened = this.#seen.position;
        for (const item of items) this.#applyOwn(item, reply.nowMs, reply.characters / items.length);
        return;
      }
      reloads += 1;
      if (reloads > MOST_RELOADS) throw unavailable();
      const mayHaveExpired = this.nowMs() - this.#usedAtMs >= this.#store.idleMs;
      const isLost = reply.kind === 'lost' || (reply.kind === 'missing' && !mayHaveExpired);
      if (isLost) this.#world.lost();
      const mayBeMade = isUsed && reply.kind !== 'behind';
      const { epoch } = this.#seen;
      if (await this.#reload(mayBeMade)) {
        if (this.#seen.epoch !== epoch)
          for (const item of items) if (item.command.kind === 'end') item.command = { kind: 'end', ends: [] }; // their numbers now name other requests
        continue;
      }
      const reason = isLost ? 'lost' : 'elsewhere';
      this.#world.ended(reason);
      throw dropped(reason);
    }
  }

  async #takeInTurns(commands: readonly Logged[]): Promise<void> {
    for (const [nth, logged] of commands.entries()) {
      if (nth > 0 && nth % COMMANDS_AT_ONCE === 0) await this.#store.wallClock.yieldToEventLoop();
      try {
        const isOwn = logged.stamp.server === this.#store.server;
        const applied = this.#apply(logged, { isOwn, isAwaited: false });
        if (isOwn && this.#seen.position === this.#happened) this.#endLost(logged.command, applied);
      } catch (error) {
        this.#world.failed(error);
      }
    }
  }

  #applyOwn(item: Item, wallMs: number, characters: number): void {
    const { number, command, room, restored } = item;
    const { server } = this.#store;
    const position = this.#seen.position + 1;
    const stamp = { server, position, wallMs, room };
    try {
      item.resolve(
        this.#apply(
          { position, name: `${server}:${number}`, command, stamp, characters, restored },
          { isOwn: true, isAwaited: true },
        ),
      );
    } catch (error) {
      item.reject(error);
    }
  }

  #apply(logged: Logged, how: Omit<How, 'isNews'>): Applied {
    const { command, stamp, position, name, characters, restored } = logged;
    this.#seen = { epoch: this.#seen.epoch, position, name };
    const isNews = position > this.#happened;
    if (isNews) this.#happened = position;
    const applied = this.#world.apply(command, stamp, { ...how, isNews });
    this.#characters += characters;
    if (restored !== undefined) this.#restored.push(restored);
    const isTooLong = isNews && this.#characters > this.#keptAfter * (how.isOwn ? 1 : OTHERS_AFTER);
    if (command.kind !== 'forgetUndo' && !isTooLong) return applied;
    this.#characters = 0;
    if (command.kind !== 'forgetUndo') {
      if (this.#world.closed === null) this.#world.inBackground(this.#world.submit({ kind: 'forgetUndo' }));
    } else if (how.isOwn && isNews) this.#keeping ??= this.#keep();
    return applied;
  }

  /** A request whose client was refused, since the reply was lost, is in the log: nobody waits for its response. */
  #endLost(command: Command, applied: Applied): void {
    if (!('request' in command) || applied.kind !== 'done') return;
    const { result } = applied;
    const request = typeof result === 'object' && 'nth' in result ? result.nth : Number(result);
    this.end(
      {
        request,
        outcome: 'fault',
        durationMs: 0,
        after: this.#seen.position,
        isSent: false,
        refused: { code: 'STORE_UNAVAILABLE', limit: 'SANDBOX_STORE' },
      },
      false,
    );
  }

  #fail(item: Item, error: unknown): void {
    if (item.command.kind === 'end') {
      this.#ends = [...item.command.ends, ...this.#ends].slice(-MOST_ENDS);
      this.#endLater(STORE_TIMES.heartbeat);
    }
    item.reject(error);
  }

  get #keptAfter(): number {
    return Math.max(KEPT_AFTER, this.#kept);
  }

  /** Writes the state as the snapshot from which the log is followed. Nothing in it can be undone, so all servers know the same. */
  async #keep(): Promise<void> {
    const { latest } = this.#world;
    const restored = this.#restored;
    this.#restored = [];
    try {
      this.#kept = await this.#store.keep(this.#keys, this.#seen, takeSnapshot(latest, true), restored);
    } catch (error) {
      this.#restored = [...restored, ...this.#restored];
      if (!(error instanceof Refusal)) this.#world.failed(error);
    } finally {
      this.#keeping = null;
    }
  }

  /** Opens the world again. @param isMade whether a new one is made where there is none @returns whether there is one */
  async #reload(isMade: boolean): Promise<boolean> {
    const opened = await this.#store.read(this.#world.id, isMade);
    if (opened === null) return false;
    const isSame = opened.epoch === this.#seen.epoch;
    const isSkipped = isSame && opened.seen.position > this.position;
    this.#seen = opened.seen;
    this.#kept = opened.characters;
    this.#restored = [];
    this.#characters = 0;
    if (!isSame) this.#ends = [];
    if (!isSame) this.#happened = opened.isNew ? 0 : Infinity;
    else this.#happened = Math.max(this.#happened, this.position);
    this.#world.reopened({ ...opened, isSame, isSkipped });
    return true;
  }
}
