import { USUAL_LIMITS, type RefereeLimits, type RefereeSettings } from '../contract/conduct.ts';
import type { EntryResponse, JournalEntry, TransactionResponse } from '../contract/control-responses.ts';
import { callOf, type Call } from './call.ts';
import { intentsOf, type Intents } from './intents.ts';

/** What a world knows about its client, in the terms of the control API. */
export interface Evidence {
  /** The name that the world was given; null or absent for none. */
  readonly name?: string | null;
  /** The journal, in any order. */
  readonly requests: readonly JournalEntry[];
  /** How many older requests were dropped from the journal. */
  readonly evicted: number;
  /** When and why the world was dropped and made again, with its payouts; null or absent for never. */
  readonly dropped?: string | null;
  readonly ledger: {
    readonly payouts: readonly TransactionResponse[];
    readonly entries: readonly EntryResponse[];
    /** How many other payouts were made by requests that were cleared from the journal. */
    readonly forgotten?: number;
  };
  /** Wall time at which it was taken: a request that is still under way has lasted until then. ISO 8601. */
  readonly wall_now: string | null;
  /** True once the client can send no more: its command has ended, or its test. */
  readonly clientEnded: boolean;
}

/** Whether an entry of this kind brings money into the wallet. */
export const isMoneyIn = (kind: EntryResponse['kind']): boolean => kind === 'credit' || kind === 'refund';

/** The evidence, indexed for the checks. */
export interface Case {
  /** In the order in which they began. */
  readonly calls: readonly Call[];
  readonly initiates: readonly Call[];
  /** The initiates and status reads of each reference. */
  readonly byReference: ReadonlyMap<string, readonly Call[]>;
  /** The initiates of each reference. */
  readonly sends: ReadonlyMap<string, readonly Call[]>;
  readonly intents: Intents;
  /** The initiates of each intended payout: declared, or else of each reference. */
  readonly tries: ReadonlyMap<string, readonly Call[]>;
  readonly clientEnded: boolean;
  readonly ledger: Evidence['ledger'];
  /** The latest payout of each reference. */
  readonly payouts: ReadonlyMap<string, TransactionResponse>;
  readonly expect: RefereeSettings['expect'];
  readonly limits: RefereeLimits;
  readonly wallNowMs: number | null;
}

/** Groups in the order of their first members. Whatever has no key is left out. */
export function groupedBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string | null,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * Requests as their client left them. Whoever has ended gets no more of a response, but a server may notice that a little later, when
 * the verdict is already being asked for. The end of a response that was sent at once is only recorded later.
 */
function leftAtEnd(requests: readonly JournalEntry[], wallNow: string | null): readonly JournalEntry[] {
  const newest = requests.reduce((most, { id }) => Math.max(most, id), 0);
  return requests.map((entry) => {
    const { outcome, answer, fault, wall_at } = entry;
    const isOpen = outcome === 'pending' && (answer === null || fault === 'slow-body');
    if (!isOpen) return entry;
    const left = { ...entry, outcome: 'client_gone' as const };
    if (wallNow === null) return left;
    return {
      ...left,
      duration_ms: Math.max(0, Date.parse(wallNow) - Date.parse(wall_at)),
      ended_after: newest,
    };
  });
}

const referenceOf = ({ reference }: Call): string | null => reference;

export function caseOf(
  { requests, ledger, wall_now, clientEnded }: Evidence,
  { intent, expect, limits }: RefereeSettings,
): Case {
  const references = new Map<string, string>();
  for (const { txn_id, client_ref_id } of [...requests, ...ledger.payouts]) {
    if (txn_id !== null && client_ref_id !== null) references.set(txn_id, client_ref_id);
  }
  const all = clientEnded ? leftAtEnd(requests, wall_now) : requests;
  const calls = all
    .toSorted((a, b) => a.id - b.id)
    .map((entry) => callOf(entry, (txnId) => references.get(txnId)));
  const initiates = calls.filter(({ route }) => route === 'initiate');
  const sends = groupedBy(initiates, referenceOf);
  const intents = intentsOf(initiates, intent);
  return {
    calls,
    initiates,
    byReference: groupedBy(calls, referenceOf),
    sends,
    intents,
    tries: intents.isDeclared ? groupedBy(initiates, (call) => intents.of(call) ?? call.reference) : sends,
    clientEnded,
    ledger,
    payouts: new Map(ledger.payouts.map((payout) => [payout.client_ref_id, payout])),
    expect,
    limits: limits ?? USUAL_LIMITS,
    wallNowMs: wall_now === null ? null : Date.parse(wall_now),
  };
}
