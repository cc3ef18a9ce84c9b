import { Refusal } from '../../contract/errors.ts';
import type { Change } from '../../payout/payout.ts';
import type { Applied } from '../../world/apply.ts';
import { isReplacing, type Command } from '../../world/commands.ts';
import type { StateEvent } from '../../world/events.ts';
import type { WallClock } from '../wall-clock.ts';
import type { WorldObserver } from '../world-log.ts';
import type { OwnCommand } from './calls/append-call.ts';
import { fingerprintOf, logEntry, type LogEntry, type StreamEntry } from './log-entry.ts';
import type { StoreConnection } from './store-connection.ts';
import type { Place } from './stored/stored-snapshot.ts';
import { LogMoved, type WorldCopy } from './world-copy.ts';

/** Receives what the commands of a log do. */
export interface Listener {
  /** @param isOwn whether a command of this server did it */
  readonly applied: (event: StateEvent, isOwn: boolean) => void;
  /** The world was reset, or replaced by another state. */
  readonly replaced: () => void;
}

interface Parts {
  readonly store: StoreConnection;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
}

type Collector = NonNullable<OwnCommand['collect']>;

const ENTRIES_AT_ONCE = 50;

const changesIn = (events: readonly StateEvent[]): readonly Change[] =>
  events.flatMap((event) => (event.type === 'settlement' ? [event.change] : []));

/** Applies the commands of one log in their order, and gives those of this server their results. */
export class LogApplier {
  readonly #worldId: string;
  readonly #parts: Parts;
  readonly #listener: Listener;
  readonly #collectors = new Set<Collector>();
  readonly #restores: Place[] = [];
  /** The last command whose events were published: a copy that is reloaded applies older ones again. */
  #toldUpTo = 0;
  /** The command for which the copy was rebuilt, since its submitter had a different state. */
  #doubted = 0;
  /** The servers whose copies were found to be wrong. */
  readonly #distrusted = new Set<string>();

  constructor(worldId: string, parts: Parts, listener: Listener) {
    this.#worldId = worldId;
    this.#parts = parts;
    this.#listener = listener;
  }

  /** The restores that were applied since this was last asked. */
  takeRestores(): readonly Place[] {
    return this.#restores.splice(0);
  }

  stopCollecting(collect: Collector): void {
    this.#collectors.delete(collect);
  }

  /**
   * Applies new commands of the log: those of other servers, and those that an earlier call of this server appended.
   *
   * @returns the commands of this server that are not among them
   * @throws LogMoved, also when this copy differs from a submitter's; Refusal STORE_UNAVAILABLE
   */
  async applyNews(
    copy: WorldCopy,
    news: readonly StreamEntry[],
    commands: readonly OwnCommand[],
  ): Promise<readonly OwnCommand[]> {
    const { store, wallClock } = this.#parts;
    if (news.length === 0) return commands;
    const own = new Map(commands.map((command) => [`${store.server}:${command.number}`, command]));
    for (const [nth, item] of news.entries()) {
      if (nth > 0 && nth % ENTRIES_AT_ONCE === 0) await wallClock.yieldToEventLoop();
      const entry = logEntry(item);
      this.#compare(copy, entry);
      const command = own.get(entry.name);
      own.delete(entry.name);
      if (command === undefined) await this.#applyEntry(copy, entry);
      else this.#applyCommand(copy, command, entry.position, entry.wallMs);
    }
    return [...own.values()];
  }

  /** Applies commands of this server that a call has just appended. */
  applyOwn(copy: WorldCopy, commands: readonly OwnCommand[], nowMs: number): void {
    for (const command of commands) this.#applyCommand(copy, command, copy.place.position + 1, nowMs);
  }

  /** Compares a copy with that of the submitter of the next command. @throws LogMoved when they differ, once for each command */
  #compare({ state }: WorldCopy, { fingerprint, position, name }: LogEntry): void {
    if (state === null || fingerprint === '' || fingerprint === fingerprintOf(state)) return;
    const [submitter] = name.split(':') as [string];
    const { store } = this.#parts;
    if (submitter === store.server || this.#distrusted.has(submitter)) return;
    const isRebuilt = this.#doubted === position;
    store.warn(
      `two servers had different copies of world ${this.#worldId.slice(0, 8)} at command ${position}: ` +
        (isRebuilt ? 'that of the other server is wrong' : 'this server reads it again from the store'),
    );
    if (isRebuilt) this.#distrusted.add(submitter);
    this.#doubted = position;
    if (!isRebuilt) throw new LogMoved();
  }

  async #applyEntry(copy: WorldCopy, entry: LogEntry): Promise<void> {
    const isOwn = entry.name.startsWith(`${this.#parts.store.server}:`);
    try {
      const applied = await copy.applyEntry(entry);
      if (applied !== null) this.#tell(entry, applied.command, applied.outcome, isOwn);
    } catch (error) {
      if (error instanceof LogMoved || error instanceof Refusal) throw error; // it has not been applied
      this.#parts.observer.failed(this.#worldId, error); // its submitter gets the error too
    }
  }

  #applyCommand(copy: WorldCopy, own: OwnCommand, position: number, wallMs: number): void {
    const { command, room, number, collect } = own;
    const name = `${this.#parts.store.server}:${number}`;
    try {
      const outcome = copy.applyCommand({ position, name }, wallMs, command, room);
      if (collect !== undefined) this.#collectors.add(collect);
      this.#tell({ position, name }, command, outcome, true);
      if (collect !== undefined && outcome.kind !== 'unfinished') this.#collectors.delete(collect);
      own.applied(outcome);
    } catch (error) {
      own.failed(error);
    }
  }

  #tell({ position, name }: Place, command: Command, { kind, events }: Applied, isOwn: boolean): void {
    if (position <= this.#toldUpTo) return;
    this.#toldUpTo = position;
    if (kind === 'done' && isReplacing(command)) this.#listener.replaced();
    if (command.kind === 'restore') this.#restores.push({ position, name });
    const changes = this.#collectors.size === 0 ? [] : changesIn(events);
    for (const collect of this.#collectors) collect(changes);
    for (const event of events) this.#listener.applied(event, isOwn);
  }
}
