import type { Entry } from '../../../payout/money.ts';
import type { Payout } from '../../../payout/payout.ts';
import type { FrozenState } from '../../../world/copy.ts';
import type { StoreConnection } from '../store-connection.ts';

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
