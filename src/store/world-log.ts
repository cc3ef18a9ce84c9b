import { Refusal } from '../contract/errors.ts';
import { type Applied, isUse } from '../world/apply.ts';
import { Command, type Room } from '../world/commands.ts';
import type { Ended } from '../world/request/request-commands.ts';
import { dropped, unavailable, type DropReason, type How, type Order } from '../worlds/order.ts';
import type { World } from '../worlds/world.ts';
import { STORE_TIMES } from './store-times.ts';
import type { Logged, NewCommand, Seen, StoredLog, StoredState, StoredWorld } from './stored-log.ts';

/** A command of this server whose caller waits for its outcome. */
interface Item extends NewCommand {
  readonly resolve: (applied: Applied) => void;
  readonly reject: (error: unknown) => void;
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
  readonly #log: StoredLog;
  readonly #listen: () => void;
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

  /** @param listen has the store asked regularly for what happens in the world */
  constructor(world: World, log: StoredLog, { isNew, seen, characters }: StoredWorld, listen: () => void) {
    this.#world = world;
    world.connections.keepsEvents = true;
    this.#log = log;
    this.#listen = listen;
    this.#seen = seen;
    this.#kept = characters;
    this.#happened = isNew ? 0 : Infinity; // what it has been through is no news
    this.#usedAtMs = isNew ? log.connection.nowMs() : -Infinity;
  }

  get position(): number {
    return this.#seen.position;
  }

  nowMs(): number {
    return this.#log.connection.nowMs();
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
      const number = this.#log.connection.nextNumber();
      this.#queue.push({ number, command, room, resolve, reject });
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
    const { wallClock } = this.#log.connection;
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
    this.#listen();
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
      await this.#log.connection.turn(); // what else comes in this turn goes along
      const items = this.#queue.splice(0, MOST_AT_ONCE);
      const waiting = this.#waiting.splice(0);
      if (items.length === 0 && waiting.length === 0) continue; // closed meanwhile
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
      const reply = await this.#log.append(this.#seen, items, isUsed);
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
      const mayHaveExpired = this.nowMs() - this.#usedAtMs >= this.#log.options.idleMs;
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
    const { wallClock, server } = this.#log.connection;
    for (const [nth, logged] of commands.entries()) {
      if (nth > 0 && nth % COMMANDS_AT_ONCE === 0) await wallClock.yieldToEventLoop();
      try {
        const isOwn = logged.stamp.server === server;
        const applied = this.#apply(logged, { isOwn, isAwaited: false });
        if (isOwn && this.#seen.position === this.#happened) this.#endLost(logged.command, applied);
      } catch (error) {
        this.#world.failed(error);
      }
    }
  }

  #applyOwn(item: Item, wallMs: number, characters: number): void {
    const { number, command, room, restored } = item;
    const { server } = this.#log.connection;
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
      this.#kept = await this.#log.keep(this.#seen, latest, restored);
    } catch (error) {
      this.#restored = [...restored, ...this.#restored];
      if (!(error instanceof Refusal)) this.#world.failed(error);
    } finally {
      this.#keeping = null;
    }
  }

  /** Opens the world again. @param isMade whether a new one is made where there is none @returns whether there is one */
  async #reload(isMade: boolean): Promise<boolean> {
    const opened = await this.#log.open(isMade ? this.#log.options.activeSource() : null);
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
