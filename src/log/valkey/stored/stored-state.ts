import type { Step } from '../../../contract/snapshot-lines.ts';
import type { FrozenState } from '../../../world/copy.ts';
import type { StoreConnection } from '../store-connection.ts';

const ITEMS_A_PIECE = 100;
const PIECES_AT_ONCE = 16; // of some 64 KiB each

/** The lists of a state, which are stored in pieces. */
function listsOf({ payouts, entries, requests, attempts, uses, windows, refused }: FrozenState) {
  const timelines = new Map<readonly Step[], number>(); // payouts with the same settlement share theirs
  const timelineOf = (timeline: readonly Step[]): number => {
    if (!timelines.has(timeline)) timelines.set(timeline, timelines.size);
    return timelines.get(timeline)!;
  };
  return {
    payouts: payouts.map((payout) => ({ ...payout, timeline: timelineOf(payout.timeline) })),
    entries,
    requests: requests.list,
    recent: [...attempts.recent],
    older: [...attempts.older],
    uses: [...uses],
    windows: [...windows],
    refused: [...refused],
    timelines: [...timelines.keys()],
  };
}

type Lists = ReturnType<typeof listsOf>;
type Rest = Omit<FrozenState, 'payouts' | 'entries' | 'uses' | 'windows' | 'refused'>;
/** A part of one list, or all that is not in lists: the last piece. */
type Piece = Partial<Lists> & { readonly rest?: Rest };

/** A state as pieces of JSON: everything in it, so that reading it again gives the same state. */
export function* piecesOf(state: FrozenState): Generator<string> {
  for (const [name, list] of Object.entries(listsOf(state))) {
    for (let from = 0; from < list.length; from += ITEMS_A_PIECE) {
      yield JSON.stringify({ [name]: list.slice(from, from + ITEMS_A_PIECE) });
    }
  }
  const { payouts: _p, entries: _e, uses: _u, windows: _w, refused: _r, ...rest } = state;
  const requests = { ...rest.requests, list: [] };
  yield JSON.stringify({ rest: { ...rest, requests, attempts: { references: rest.attempts.references } } });
}

/** Writes a state under a key: a hash of numbered pieces. Each may be written twice. @throws Refusal STORE_UNAVAILABLE */
export async function writeState(
  connection: StoreConnection,
  key: string,
  state: FrozenState,
  keptMs: number,
): Promise<void> {
  let count = 0;
  let pieces: string[] = [];
  const write = async (): Promise<void> => {
    const fields = pieces.flatMap((piece, nth) => [count + nth, piece]);
    await connection.reliably(() => connection.script('writeState', key, keptMs, ...fields));
    count += pieces.length;
    pieces = [];
  };
  for (const piece of piecesOf(state)) {
    pieces.push(piece);
    if (pieces.length >= PIECES_AT_ONCE) await write();
  }
  if (pieces.length > 0) await write();
}

/** Reads it again. @returns null when it does not exist, or is deleted meanwhile. @throws Refusal STORE_UNAVAILABLE */
export async function readState(connection: StoreConnection, key: string): Promise<FrozenState | null> {
  const pieces = new StatePieces();
  for (let from = 0; ; from += PIECES_AT_ONCE) {
    const fields = Array.from({ length: PIECES_AT_ONCE }, (_, nth) => String(from + nth));
    for (const text of await connection.reliably(() => connection.client.hmget(key, ...fields))) {
      if (text === null) return null;
      const state = pieces.add(text);
      if (state !== null) return state;
    }
  }
}

/** The pieces of a state, as they are read. */
export class StatePieces {
  readonly #lists: Record<string, unknown[]> = {};

  /** @returns the state, once the last piece is there */
  add(text: string): FrozenState | null {
    const { rest, ...part } = JSON.parse(text) as Piece;
    for (const [name, items] of Object.entries(part)) (this.#lists[name] ??= []).push(...items);
    return rest === undefined ? null : stateOf(rest, this.#lists);
  }
}

function stateOf(rest: Rest, lists: Partial<Lists>): FrozenState {
  const {
    payouts = [],
    entries = [],
    requests = [],
    timelines = [],
    recent,
    older,
    uses,
    windows,
    refused,
  } = lists;
  return {
    ...rest,
    payouts: payouts.map((payout) => Object.assign(payout, { timeline: timelines[payout.timeline]! })),
    entries,
    requests: { ...rest.requests, list: requests },
    attempts: { ...rest.attempts, recent: new Map(recent), older: new Map(older) },
    uses: new Map(uses),
    windows: new Map(windows),
    refused: new Set(refused),
  };
}
