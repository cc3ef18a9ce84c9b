import { Command, RestoreCommand, Room, type Stamp } from '../world/commands.ts';
import type { WorldState } from '../world/state-shape.ts';
import { StoredState } from './stored-state.ts';

/** A place in the log of a world: the position of a command, counted from 1, and its name, which no other command has. */
interface Place {
  readonly position: number;
  readonly name: string;
}

/** A place in the log of one life of a world. */
export interface Seen extends Place {
  readonly epoch: string;
}

/** A restore in the log: its state is stored beside it. */
const StoredRestore = RestoreCommand.extend({ state: StoredState });

/** A stream entry as the store returns it: `[ID, [p, BEFORE, s, SERVER, n, NUMBER, t, MS, c, TEXT]]`. */
export type StreamEntry = readonly [id: string, fields: readonly string[]];

/** A command of the log. */
export interface Logged extends Place {
  readonly command: Command;
  readonly stamp: Stamp;
  /** How many characters it has in the store, with the state that it restores. */
  readonly characters: number;
  /** The state beside the log that it restores. */
  readonly restored?: StoredState | undefined;
}

/** The text of a command in the log. @param restored the state that it restores */
export function commandText(command: Command, room: Room, restored?: StoredState): string {
  if (command.kind === 'restore') return JSON.stringify([room, { ...command, state: restored }]);
  // the fields of a payout are those of the text that came, which is stored anyway
  const isBodyAgain = command.kind === 'initiate' && command.request.body !== undefined;
  return JSON.stringify([room, isBodyAgain ? { ...command, body: undefined } : command]);
}

/** Reads a command of the log. @param read reads the state of a restore @returns null when that is gone */
export async function readEntry(
  [id, fields]: StreamEntry,
  read: (stored: StoredState) => Promise<WorldState | null>,
): Promise<Logged | null> {
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
  const state = await read(restored);
  const characters = logged.characters + restored.characters;
  return state === null ? null : { ...logged, characters, restored, command: { ...restore, state } };
}
