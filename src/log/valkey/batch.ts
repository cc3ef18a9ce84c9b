import type { Change } from '../../payout/payout.ts';
import type { Applied } from '../../world/apply.ts';
import type { Command } from '../../world/commands.ts';
import type { StateEvent } from '../../world/events.ts';
import type { StreamEntry, Room } from './log-entry.ts';
import { FORMAT, type WorldKeys } from './scripts.ts';
import type { Place } from './stored-snapshot.ts';

/** A command of this server that waits to be appended and applied. */
export interface OwnCommand {
  /** Which of this server's commands it is. */
  readonly number: number;
  readonly command: Command;
  /** Its text in the log. */
  readonly text: string;
  readonly room: Room;
  /** Called with what happens from this command on, until it is finished. */
  readonly collect: ((changes: readonly Change[]) => void) | undefined;
  readonly applied: (outcome: Applied) => void;
  readonly failed: (error: unknown) => void;
}

/** An entry of the journal that waits to be written. */
export interface JournalWrite {
  readonly place: string;
  readonly isNew: boolean;
  /** False for what may wait a moment for a call that is made anyway. */
  readonly isUrgent: boolean;
  readonly text: string;
  /** @param nth its number, for a new one; null when it could not be written */
  readonly written: (nth: number | null) => void;
}

export interface EventWrite {
  readonly type: StateEvent['type'] | 'request';
  readonly data: string;
}

/** Somebody who waits until the state is up to date. */
export interface Look {
  readonly ready: () => void;
  readonly failed: (error: unknown) => void;
}

/** What goes to the store in one call. */
export interface Batch {
  readonly commands: readonly OwnCommand[];
  readonly entries: readonly JournalWrite[];
  readonly events: readonly EventWrite[];
  readonly looks: readonly Look[];
}

const MOST_AT_ONCE = 200;

/** What waits while a call of its world is under way: it goes along with the next. */
export class WaitingWork {
  #commands: OwnCommand[] = [];
  #entries: JournalWrite[] = [];
  #events: EventWrite[] = [];
  #looks: Look[] = [];
  #urgentEntries = 0;

  /** Whether nothing waits that cannot wait for another call. */
  get isCalm(): boolean {
    const others = [this.#commands, this.#events, this.#looks];
    return this.#urgentEntries === 0 && others.every(({ length }) => length === 0);
  }

  get isEmpty(): boolean {
    return [this.#commands, this.#entries, this.#events, this.#looks].every(({ length }) => length === 0);
  }

  addCommand(command: OwnCommand): void {
    this.#commands.push(command);
  }

  addEntry(entry: JournalWrite): void {
    this.#entries.push(entry);
    if (entry.isUrgent) this.#urgentEntries += 1;
  }

  addEvent(event: EventWrite): void {
    this.#events.push(event);
  }

  addLook(look: Look): void {
    this.#looks.push(look);
  }

  take(): Batch {
    const entries = this.#entries.splice(0, MOST_AT_ONCE);
    for (const { isUrgent } of entries) if (isUrgent) this.#urgentEntries -= 1;
    return {
      commands: this.#commands.splice(0, MOST_AT_ONCE),
      entries,
      events: this.#events.splice(0, MOST_AT_ONCE),
      looks: this.#looks.splice(0),
    };
  }
}

/** Ends a batch that could not be sent, or whose fate is unknown. */
export function failBatch({ commands, entries, looks }: Batch, error: unknown): void {
  for (const { failed } of [...commands, ...looks]) failed(error);
  for (const { written } of entries) written(null);
}

/** What the script `sync` returns. */
export type SyncReply =
  | readonly ['done', nowMs: number, watchedUntilMs: number, news: readonly StreamEntry[], firstEntry: number]
  | readonly ['more', nowMs: number, zero: 0, news: readonly StreamEntry[]]
  | readonly ['behind']
  | readonly ['gone']
  | readonly ['newer', format: number];

/** What a server says of itself in a call. */
interface Call {
  readonly keys: WorldKeys;
  readonly epoch: string;
  /** What it has seen of the log. */
  readonly place: Place;
  readonly server: string;
  readonly number: number;
  readonly keptMs: number;
  /** Whether the keys are to be kept so long from now on: it is not said with every call. */
  readonly isRenewed: boolean;
  readonly journalLimits: { readonly items: number; readonly bytes: number };
}

/** Whether a command ends what the world was, its journal too. */
export const isReplacing = ({ kind }: Command): boolean => kind === 'reset' || kind === 'restore';

/** The keys and arguments of the script `sync`. */
export function syncArguments(
  { keys, epoch, place, server, number, keptMs, isRenewed, journalLimits }: Call,
  { commands, entries, events }: Batch,
): readonly (string | number)[] {
  const { head, log, journal, order, events: eventStream, snapshot, news } = keys;
  const { items, bytes } = journalLimits;
  const args: (string | number)[] = [head, log, journal, order, eventStream, snapshot, `${head}:${server}`];
  args.push(epoch, FORMAT, place.position, place.name, server, number, keptMs);
  args.push(isRenewed ? 1 : 0, news, items, bytes);
  args.push(entries.length);
  for (const { place, isNew, text } of entries) args.push(place, isNew ? 1 : 0, text);
  args.push(events.length);
  for (const { type, data } of events) args.push(type, data);
  args.push(commands.length);
  for (const { number, command, text } of commands) args.push(number, isReplacing(command) ? 1 : 0, text);
  return args;
}
