import type { Entry, Payout, PayoutStep } from '../../../contract/snapshot-lines.ts';
import type { FrozenState } from '../../../world/copy.ts';
import type { StoreConnection } from '../store-connection.ts';

const ITEMS_A_PIECE = 100;
const PIECES_AT_ONCE = 16; // of some 32 KiB each

/** A payout without the names of its fields, which would be half of its text. Its timeline is its place among the timelines. */
const rowOf = (payout: Payout, timeline: number) =>
  [
    payout.txnId,
    payout.clientRefId,
    payout.nth,
    payout.fingerprint,
    payout.amountPaise,
    payout.transferMode,
    payout.beneficiaryName,
    payout.beneficiaryAccount,
    payout.beneficiaryIfsc,
    payout.createdAtMs,
    payout.plannedBy,
    timeline,
    payout.stepsDone,
    payout.hidden,
    payout.reads,
    payout.state,
    payout.utrSerial,
    payout.utr,
    payout.completedAtMs,
    payout.told,
  ] as const;

type Row = ReturnType<typeof rowOf>;

const payoutOf = (row: Row, timelines: readonly (readonly PayoutStep[])[]): Payout => ({
  txnId: row[0],
  clientRefId: row[1],
  nth: row[2],
  fingerprint: row[3],
  amountPaise: row[4],
  transferMode: row[5],
  beneficiaryName: row[6],
  beneficiaryAccount: row[7],
  beneficiaryIfsc: row[8],
  createdAtMs: row[9],
  plannedBy: row[10],
  timeline: timelines[row[11]]!,
  stepsDone: row[12],
  hidden: row[13],
  reads: row[14],
  state: row[15],
  utrSerial: row[16],
  utr: row[17],
  completedAtMs: row[18],
  told: row[19],
});

/** The entry of a payout follows from the payout: stored is only how many such entries are next. */
type StoredEntry = Entry | number;

/** The lists of a state, which are stored in pieces: first what the later ones need. */
function listsOf({ payouts, entries, requests, attempts, uses, windows, refused }: FrozenState) {
  const timelines = new Map<readonly PayoutStep[], number>(); // payouts with the same settlement share theirs
  for (const { timeline } of payouts) if (!timelines.has(timeline)) timelines.set(timeline, timelines.size);
  return {
    timelines: [...timelines.keys()],
    payouts: payouts.map((payout) => rowOf(payout, timelines.get(payout.timeline)!)),
    entries: storedEntries(entries, payouts),
    requests: requests.list,
    recent: [...attempts.recent],
    older: [...attempts.older],
    uses: [...uses],
    windows: [...windows],
    refused: [...refused],
  };
}

function storedEntries(entries: readonly Entry[], payouts: readonly Payout[]): StoredEntry[] {
  const stored: StoredEntry[] = [];
  let next = 0;
  for (const entry of entries) {
    if (!isEntryOf(entry, payouts[next])) {
      stored.push(entry);
      continue;
    }
    next += 1;
    const last = stored.at(-1);
    if (typeof last === 'number') stored[stored.length - 1] = last + 1;
    else stored.push(1);
  }
  return stored;
}

const isEntryOf = (entry: Entry, payout: Payout | undefined): boolean =>
  payout !== undefined &&
  entry.kind === 'payout' &&
  entry.txnId === payout.txnId &&
  entry.amountPaise === -payout.amountPaise &&
  entry.atMs === payout.createdAtMs;

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
  readonly #payouts: Payout[] = [];
  readonly #entries: Entry[] = [];
  /** How many payouts have their entry. */
  #entered = 0;

  /** @returns the state, once the last piece is there */
  add(text: string): FrozenState | null {
    const { rest, payouts = [], entries = [], ...lists } = JSON.parse(text) as Piece;
    for (const [name, items] of Object.entries(lists)) (this.#lists[name] ??= []).push(...items);
    const { timelines = [] } = this.#lists as Partial<Lists>;
    for (const row of payouts) this.#payouts.push(payoutOf(row, timelines));
    for (const entry of entries) {
      if (typeof entry === 'number') this.#enter(entry);
      else this.#entries.push(entry);
    }
    return rest === undefined ? null : this.#stateOf(rest);
  }

  /** Adds the entries of the next payouts. */
  #enter(count: number): void {
    let { balancePaise } = this.#entries.at(-1)!;
    for (const payout of this.#payouts.slice(this.#entered, this.#entered + count)) {
      const { amountPaise, txnId, createdAtMs: atMs } = payout;
      balancePaise -= amountPaise;
      this.#entries.push({ kind: 'payout', amountPaise: -amountPaise, balancePaise, txnId, atMs });
    }
    this.#entered += count;
  }

  #stateOf(rest: Rest): FrozenState {
    const { requests = [], recent, older, uses, windows, refused } = this.#lists as Partial<Lists>;
    return {
      ...rest,
      payouts: this.#payouts,
      entries: this.#entries,
      requests: { ...rest.requests, list: requests },
      attempts: { ...rest.attempts, recent: new Map(recent), older: new Map(older) },
      uses: new Map(uses),
      windows: new Map(windows),
      refused: new Set(refused),
    };
  }
}
