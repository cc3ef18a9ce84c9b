import { z } from 'zod';
import type { ScenarioSource } from '../contract/snapshot.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { Command, RestoreCommand, Room, type Stamp } from '../world/commands.ts';
import { openWorld } from '../world/opening.ts';
import { takeSnapshot } from '../world/snapshot.ts';
import type { WorldState } from '../world/state-shape.ts';
import { unavailable, type Opened } from '../worlds/order.ts';
import { readWorlds, snapshotText } from '../worlds/snapshot-text.ts';
import { keysOf, type WorldKeys } from './scripts.ts';
import { UNKNOWN, type StoreConnection } from './store-connection.ts';

/** A place in the log of a world: the position of a command, counted from 1, and its name, which no other command has. */
interface Place {
  readonly position: number;
  readonly name: string;
}

/** A place in the log of one life of a world. */
export interface Seen extends Place {
  readonly epoch: string;
}

/** A state that is stored beside the log of its world: its snapshot as text, in numbered pieces. */
const StoredState = z.strictObject({ name: z.string(), pieces: z.int(), characters: z.int() });
export type StoredState = Readonly<z.infer<typeof StoredState>>;

/** A restore in the log: its state is stored beside it. */
const StoredRestore = RestoreCommand.extend({ state: StoredState });

/** A state in the store from which the log is followed, and its place. */
interface StoredSnapshot extends Place {
  readonly state: StoredState;
}

/** A world as the store has it. */
export interface StoredWorld extends Opened {
  readonly seen: Seen;
  /** How many characters its snapshot has; 0 for the first state of a world, which follows from its scenario. */
  readonly characters: number;
}

/** A command of this server on its way to the log. */
export interface NewCommand {
  readonly number: number;
  command: Command;
  readonly room: Room;
  /** The state that it restores, once that is stored beside the log. */
  restored?: StoredState | undefined;
}

/** A command of the log. */
export interface Logged extends Place {
  readonly command: Command;
  readonly stamp: Stamp;
  /** How many characters it has in the store, with the state that it restores. */
  readonly characters: number;
  /** The state beside the log that it restores. */
  readonly restored?: StoredState | undefined;
}

/** What an append returns. */
type Appended =
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

/** A stream entry as the store returns it: `[ID, [p, BEFORE, s, SERVER, n, NUMBER, t, MS, c, TEXT]]`. */
type StreamEntry = readonly [id: string, fields: readonly string[]];

/** See `CALL`. */
type CallReply =
  | readonly ['open', number, string, number, string, string, 0 | 1]
  | readonly ['done' | 'more', nowMs: number, news: readonly StreamEntry[]]
  | readonly ['behind' | 'gone' | 'missing' | 'lost', nowMs?: undefined];

export interface LogOptions {
  readonly compiler: ScenarioCompiler;
  /** The scenario of a world that is made again because another server has dropped it. */
  readonly activeSource: () => ScenarioSource;
  /** A world that was not used for this long expires. */
  readonly idleMs: number;
}

const NOTHING: Seen = { epoch: '', position: 0, name: '' };
const TRIES = 5;
const PIECES_AT_ONCE = 16; // of some 64 KiB each

/** How long a use may be in the past before another one renews the keys of its world. */
const renewedAfterMs = (idleMs: number): number => Math.ceil(idleMs * 0.05);

/** How long keys are kept: not every use renews them. */
export const keptMs = (idleMs: number): number => idleMs + renewedAfterMs(idleMs);

/** The log of one world in the store, and the states beside it. */
export class StoredLog {
  readonly connection: StoreConnection;
  readonly options: LogOptions;
  readonly #worldId: string;
  readonly #keys: WorldKeys;

  constructor(connection: StoreConnection, worldId: string, options: LogOptions) {
    this.connection = connection;
    this.options = options;
    this.#worldId = worldId;
    this.#keys = keysOf(worldId);
  }

  /** Reads the world. @param source the scenario of a new one; null to make none @returns null when there is none */
  async open(source: ScenarioSource | null): Promise<StoredWorld | null> {
    const first = source === null ? '' : JSON.stringify(source);
    for (let tried = 0; tried < TRIES; tried += 1) {
      const reply = await this.#call(NOTHING, source !== null, first, []);
      if (reply[0] !== 'open') return null;
      const [, , epoch, openedAtMs, text, ofWorld, isNew] = reply;
      const snapshot = text === '' ? null : (JSON.parse(text) as StoredSnapshot);
      const state =
        snapshot === null
          ? openWorld(this.#worldId, JSON.parse(ofWorld) as ScenarioSource, openedAtMs, this.options.compiler)
          : await this.#readState(snapshot.state);
      if (state === null) continue; // replaced meanwhile
      const { position, name } = snapshot ?? NOTHING;
      const characters = snapshot?.state.characters ?? 0;
      return { epoch, isNew: isNew === 1, state, seen: { epoch, position, name }, characters };
    }
    throw unavailable();
  }

  /** Appends commands; without any, it returns what is new. @param seen what this server has applied @param isUsed as for the world */
  async append(seen: Seen, items: readonly NewCommand[], isUsed: boolean): Promise<Appended> {
    const commands: (string | number)[] = [];
    let characters = 0;
    for (const item of items) {
      const { number, command, room } = item;
      if (command.kind === 'restore') item.restored ??= await this.#writeState(command.state);
      const text = commandText(command, room, item.restored);
      characters += text.length;
      commands.push(number, text);
    }
    const reply = await this.#call(seen, isUsed, '', commands);
    if (reply[0] === 'open') throw new Error('a store has opened a world instead of appending to it');
    if (reply[0] !== 'done' && reply[0] !== 'more') return { kind: reply[0] };
    const [kind, nowMs, news] = reply;
    const read: Logged[] = [];
    for (const entry of news) {
      const logged = await this.#readEntry(entry);
      if (logged === null) {
        // a snapshot has taken the place of what it restores
        if (kind === 'done' && items.length > 0) throw unavailable({ message: UNKNOWN }); // they are in the log
        return { kind: 'behind' };
      }
      read.push(logged);
    }
    return { kind, commands: read, nowMs, characters };
  }

  /**
   * Makes a state the snapshot of the world, and trims the log, unless another server was quicker.
   *
   * @param restored the states of restores before it, which are no longer needed
   * @returns its characters
   */
  async keep(
    { epoch, position, name }: Seen,
    latest: WorldState,
    restored: readonly StoredState[],
  ): Promise<number> {
    const { head, log, states } = this.#keys;
    const state = await this.#writeState(latest);
    const snapshot: StoredSnapshot = { position, name, state };
    const args = [head, log, states, epoch, JSON.stringify(snapshot), position];
    const needless = restored.flatMap(fieldsOf);
    const keep = () => this.connection.script<number>('keep', ...args, ...needless);
    const isKept = (await this.connection.use(keep, head)) === 1;
    if (!isKept) await this.connection.client.hdel(states, ...fieldsOf(state)).catch(() => undefined);
    return state.characters;
  }

  async #call(
    { epoch, position, name }: Seen,
    isUsed: boolean,
    source: string,
    commands: readonly (string | number)[],
  ): Promise<CallReply> {
    const { connection } = this;
    const { head, log, states } = this.#keys;
    const { idleMs } = this.options;
    const args = [head, log, states, epoch, position, name, connection.server, isUsed ? 1 : 0];
    const all = [...args, keptMs(idleMs), renewedAfterMs(idleMs), source, ...commands];
    const call = () => connection.script<CallReply | ['newer', number]>('call', ...all);
    const reply = await connection.use(call, head);
    if (reply[0] === 'newer') throw connection.newerFormat(head, reply[1]);
    if (reply[1] !== undefined) connection.setTime(reply[1]);
    return reply;
  }

  /** Reads a command of the log. @returns null when the state that it restores is gone */
  async #readEntry([id, fields]: StreamEntry): Promise<Logged | null> {
    const [, , , server, , number, , wallMs, , text] = fields;
    const [room, stored] = JSON.parse(text!) as [
      unknown,
      { kind: string; body?: unknown; request?: { body?: string } },
    ];
    const position = Number(id.slice(id.indexOf('-') + 1));
    const logged = {
      position,
      name: `${server}:${number}`,
      stamp: { server: server!, position, wallMs: Number(wallMs), room: Room.parse(room) },
      characters: text!.length,
    };
    if (stored.kind !== 'restore') {
      if (stored.kind === 'initiate') stored.body ??= JSON.parse(stored.request!.body!);
      return { ...logged, command: Command.parse(stored) };
    }
    const { state: restored, ...restore } = StoredRestore.parse(stored);
    const state = await this.#readState(restored);
    const characters = logged.characters + restored.characters;
    return state === null ? null : { ...logged, characters, restored, command: { ...restore, state } };
  }

  async #writeState(state: WorldState): Promise<StoredState> {
    const name = `${this.connection.server}:${this.connection.nextNumber()}`;
    let [pieces, characters] = [0, 0];
    const fields: string[] = [];
    for await (const piece of snapshotText([takeSnapshot(state, true)])) {
      fields.push(`${name}/${pieces}`, piece);
      pieces += 1;
      characters += piece.length;
      if (fields.length === 2 * PIECES_AT_ONCE) await this.#writePieces(fields.splice(0));
    }
    if (fields.length > 0) await this.#writePieces(fields);
    return { name, pieces, characters };
  }

  async #writePieces(fields: readonly string[]): Promise<void> {
    const { head, states } = this.#keys;
    const { client } = this.connection;
    await this.connection.use(
      () =>
        Promise.all([
          client.hset(states, ...fields),
          client.pexpire(states, keptMs(this.options.idleMs)), // it expires even if the server dies before it writes the rest
        ]),
      head,
    );
  }

  /** @returns null when it is deleted meanwhile */
  async #readState(stored: StoredState): Promise<WorldState | null> {
    const { connection } = this;
    const { head, states } = this.#keys;
    let isGone = false;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      const fields = fieldsOf(stored);
      for (let from = 0; from < fields.length; from += PIECES_AT_ONCE) {
        const some = fields.slice(from, from + PIECES_AT_ONCE);
        for (const text of await connection.use(() => connection.client.hmget(states, ...some), head)) {
          if (text === null) return void (isGone = true);
          yield Buffer.from(text);
        }
      }
    }
    const { compiler } = this.options;
    const { wallClock } = connection;
    try {
      for await (const { state } of readWorlds(pieces(), { compiler, wallClock, maxLine: Infinity }))
        return state;
    } catch (error) {
      if (!isGone) throw new Error(`the state ${stored.name} in the store cannot be read`, { cause: error });
    }
    return null;
  }
}

/** The fields of the pieces of a state. */
const fieldsOf = ({ name, pieces }: StoredState): readonly string[] =>
  Array.from({ length: pieces }, (_, nth) => `${name}/${nth}`);

/** The text of a command in the log. @param restored the state that it restores */
function commandText(command: Command, room: Room, restored?: StoredState): string {
  if (command.kind === 'restore') return JSON.stringify([room, { ...command, state: restored }]);
  // the fields of a payout are those of the text that came, which is stored anyway
  const isBodyAgain = command.kind === 'initiate' && command.request.body !== undefined;
  return JSON.stringify([room, isBodyAgain ? { ...command, body: undefined } : command]);
}
