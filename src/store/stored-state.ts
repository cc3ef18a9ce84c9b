import { z } from 'zod';
import type { Entry } from '../payout/money.ts';
import type { Payout } from '../payout/payout.ts';
import type { FrozenState } from '../world/copy.ts';

const ITEMS_A_PIECE = 100;
const PIECES_AT_ONCE = 16; // of some 64 KiB each

/** The lists of a state, which are stored in pieces. */
const listsOf = ({ payouts, entries, requests, attempts, uses, windows, refused }: FrozenState) => ({
  payouts,
  entries,
  requests: requests.list,
  recent: [...attempts.recent],
  older: [...attempts.older],
  uses: [...uses],
  windows: [...windows],
  refused: [...refused],
});

type Lists = ReturnType<typeof listsOf>;
type Rest = Omit<FrozenState, 'payouts' | 'entries' | 'uses' | 'windows' | 'refused'>;
/** A part of one list, or all that is not in lists: the last piece. */
type Piece = Partial<Lists> & { readonly rest?: Rest };

/** A state as pieces of JSON: everything in it, so that reading it again gives the same state. */
function* piecesOf(state: FrozenState): Generator<string> {
  for (const [name, list] of Object.entries(listsOf(state))) {
    for (let from = 0; from < list.length; from += ITEMS_A_PIECE) {
      yield JSON.stringify({ [name]: list.slice(from, from + ITEMS_A_PIECE) });
    }
  }
  const { payouts: _p, entries: _e, uses: _u, windows: _w, refused: _r, ...rest } = state;
  const requests = { ...rest.requests, list: [] };
  yield JSON.stringify({ rest: { ...rest, requests, attempts: { references: rest.attempts.references } } });
}

/** A state that is stored beside the log of its world, in numbered pieces. */
export const StoredState = z.strictObject({ name: z.string(), pieces: z.int(), characters: z.int() });
export type StoredState = Readonly<z.infer<typeof StoredState>>;

/** The fields of its pieces. */
export const piecesOfStored = ({ name, pieces }: StoredState): readonly string[] =>
  Array.from({ length: pieces }, (_, nth) => `${name}/${nth}`);

/** Writes a state. @param write writes some pieces, as fields and texts */
export async function writeState(
  name: string,
  state: FrozenState,
  write: (fields: readonly string[]) => Promise<unknown>,
): Promise<StoredState> {
  let [count, characters] = [0, 0];
  let fields: string[] = [];
  for (const piece of piecesOf(state)) {
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

/** Reads it again. @param read reads some fields @returns null when it is deleted meanwhile */
export async function readState(
  stored: StoredState,
  read: (fields: readonly string[]) => Promise<readonly (string | null)[]>,
): Promise<FrozenState | null> {
  const pieces = new StatePieces();
  const fields = piecesOfStored(stored);
  for (let from = 0; from < fields.length; from += PIECES_AT_ONCE) {
    for (const text of await read(fields.slice(from, from + PIECES_AT_ONCE))) {
      if (text === null) return null;
      const state = pieces.add(text);
      if (state !== null) return state;
    }
  }
  return null;
}

/** The pieces of a state, as they are read. */
class StatePieces {
  readonly #lists: Record<string, unknown[]> = {};
  /** Payouts with the same settlement share their timeline, as those that a world makes do. */
  readonly #timelines = new Map<string, Payout['timeline']>();

  /** @returns the state, once the last piece is there */
  add(text: string): FrozenState | null {
    const { rest, payouts = [], ...lists } = JSON.parse(text) as Piece;
    for (const payout of payouts) Object.assign(payout, { timeline: this.#shared(payout.timeline) });
    for (const [name, items] of Object.entries({ ...lists, payouts })) {
      const known = (this.#lists[name] ??= []);
      for (const item of items) known.push(item);
    }
    return rest === undefined ? null : this.#stateOf(rest);
  }

  #shared(timeline: Payout['timeline']): Payout['timeline'] {
    const text = JSON.stringify(timeline);
    if (!this.#timelines.has(text)) this.#timelines.set(text, timeline);
    return this.#timelines.get(text)!;
  }

  #stateOf(rest: Rest): FrozenState {
    const { requests, recent, older, uses, windows, refused } = this.#lists as Partial<Lists>;
    return {
      ...rest,
      payouts: (this.#lists['payouts'] ?? []) as Payout[],
      entries: (this.#lists['entries'] ?? []) as Entry[],
      requests: { ...rest.requests, list: requests ?? [] },
      attempts: { ...rest.attempts, recent: new Map(recent), older: new Map(older) },
      uses: new Map(uses),
      windows: new Map(windows),
      refused: new Set(refused),
    };
  }
}
