import { z } from 'zod';
import { Command, Stamp, RestoreCommand } from '../../../world/commands.ts';
import type { WorldState } from '../../../world/state.ts';
import { loggedAt } from '../../command-parts.ts';
import type { Logged, NewCommand, Place } from '../../store.ts';

/** A restore in the log: its state is stored under a key of its own. */
const StoredRestore = RestoreCommand.extend({ state: z.string() });

/** What is stored of a stamp; the rest of it follows from the place in the log. */
const StoredStamp = Stamp.omit({ server: true, position: true, wallMs: true });

/** A stream entry as the store returns it: `[ID, [p, BEFORE, s, SERVER, n, NUMBER, t, MS, c, TEXT]]`. */
export type StreamEntry = readonly [id: string, fields: readonly string[]];

/** A command of the log, and the name of the one before it. */
export interface ReadEntry extends Logged {
  readonly before: string;
}

/** The text of a command in the log. @param restored the name of the state that it restores */
export function commandText({ command, stamp }: NewCommand, restored: string): string {
  const { server: _server, ...stored } = stamp;
  if (command.kind === 'restore') return JSON.stringify([stored, { ...command, state: restored }]);
  // the fields of a payout are those of the text that came, which is stored anyway
  const isBodyAgain = command.kind === 'initiate' && command.request.body !== undefined;
  return JSON.stringify([stored, isBodyAgain ? { ...command, body: undefined } : command]);
}

/** Reads a command of the log. @param restored reads the state that a restore names @returns null when that is gone */
export async function readEntry(
  [id, fields]: StreamEntry,
  restored: (name: string) => Promise<WorldState | null>,
): Promise<ReadEntry | null> {
  const [, before, , server, , number, , wallMs, , text] = fields;
  const [stamp, stored] = JSON.parse(text!) as [
    unknown,
    { kind: string; body?: unknown; request?: { body?: string } },
  ];
  const position = Number(id.slice(id.indexOf('-') + 1));
  const logged = {
    position,
    name: `${server}:${number}`,
    before: before!,
    number: Number(number),
    stamp: { ...StoredStamp.parse(stamp), server: server!, position, wallMs: Number(wallMs) },
  };
  if (stored.kind !== 'restore') {
    if (stored.kind === 'initiate') stored.body ??= JSON.parse(stored.request!.body!);
    return { ...logged, command: Command.parse(stored) };
  }
  const { state: name, ...restore } = StoredRestore.parse(stored);
  const state = await restored(name);
  return state === null ? null : { ...logged, command: { ...restore, state } };
}

/** The commands that a call has appended. @param place of the latest one before them @param found those that were in the log */
export function appendedAfter(
  place: Place,
  found: readonly Logged[],
  commands: readonly NewCommand[],
  server: string,
  wallMs: number,
): Logged[] {
  const known = new Set(found.map(({ name }) => name));
  let { position } = place;
  const appended: Logged[] = [];
  for (const command of commands) {
    const name = `${server}:${command.number}`;
    if (known.has(name)) continue;
    position += 1;
    appended.push(loggedAt(command, position, name, wallMs));
  }
  return appended;
}
