import { z } from 'zod';
import type { Snapshot } from '../world/snapshot.ts';
import type { WorldState } from '../world/state-shape.ts';
import { readWorlds, snapshotText } from '../worlds/snapshot-text.ts';

const PIECES_AT_ONCE = 16; // of some 64 KiB each

/** A state that is stored beside the log of its world: its snapshot as text, in numbered pieces. */
export const StoredState = z.strictObject({ name: z.string(), pieces: z.int(), characters: z.int() });
export type StoredState = Readonly<z.infer<typeof StoredState>>;

/** The fields of its pieces. */
export const piecesOfStored = ({ name, pieces }: StoredState): readonly string[] =>
  Array.from({ length: pieces }, (_, nth) => `${name}/${nth}`);

/** Writes a snapshot. @param write writes some pieces, as fields and texts */
export async function writeState(
  name: string,
  snapshot: Snapshot,
  write: (fields: readonly string[]) => Promise<unknown>,
): Promise<StoredState> {
  let [count, characters] = [0, 0];
  let fields: string[] = [];
  for await (const piece of snapshotText([snapshot])) {
    fields.push(`${name}/${count}`, piece);
    count += 1;
    characters += piece.length;
    if (fields.length < 2 * PIECES_AT_ONCE) continue;
    await write(fields);
    fields = [];
  }
  if (fields.length > 0) await write(fields);
  return { name, pieces: count, characters };
}

/** Reads its state again. @param read reads some fields @returns null when it is deleted meanwhile */
export async function readState(
  stored: StoredState,
  read: (fields: readonly string[]) => Promise<readonly (string | null)[]>,
  options: Pick<Parameters<typeof readWorlds>[1], 'compiler' | 'wallClock'>,
): Promise<WorldState | null> {
  let isGone = false;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const fields = piecesOfStored(stored);
    for (let from = 0; from < fields.length; from += PIECES_AT_ONCE) {
      for (const text of await read(fields.slice(from, from + PIECES_AT_ONCE))) {
        if (text === null) return void (isGone = true);
        yield Buffer.from(text);
      }
    }
  }
  try {
    for await (const { state } of readWorlds(pieces(), { ...options, maxLine: Infinity })) return state;
  } catch (error) {
    if (!isGone) throw new Error(`the state ${stored.name} in the store cannot be read`, { cause: error });
  }
  return null;
}
