import { USUAL_LIMITS, type RefereeLimits, type RefereeSettings } from '../contract/conduct.ts';
import type { EntryResponse, JournalEntry, TransactionResponse } from '../contract/control-responses.ts';
import type { State } from '../contract/service.ts';
import { toPaise } from '../payout/money.ts';
import { callOf, type Call } from './call.ts';
import { intentsOf, type Intents } from './intents.ts';
import { inSteps, whole, type Steps } from '../world/steps.ts';

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
  /** The speed of the world's clock; absent or 0 for a frozen one. */
  readonly speed?: number;
  /** The rules that override those of the scenario, and how many requests each has changed. */
  readonly overrides?: readonly { readonly id: string; readonly taken: number }[];
  /** True once the client can send no more: its command has ended, or its test. */
  readonly clientEnded: boolean;
}

/** Whether an entry of this kind brings money into the wallet. */
export const isMoneyIn = (kind: EntryResponse['kind']): boolean => kind === 'credit' || kind === 'refund';

/** A payout whose money is out. */
export interface Paid {
  readonly reference: string;
  readonly txnId: string;
  readonly account: string;
  readonly amountPaise: number;
  readonly state: 'SUCCESS' | 'PENDING';
  readonly payout: TransactionResponse;
}

export const isOut = (state: State): state is 'PENDING' | 'SUCCESS' =>
  state === 'PENDING' || state === 'SUCCESS';

function paidBy(payout: TransactionResponse): Paid | null {
  const { status: state, client_ref_id, txn_id, beneficiary_account, amount } = payout;
  if (!isOut(state)) return null;
  return {
    reference: client_ref_id,
    txnId: txn_id,
    account: beneficiary_account,
    amountPaise: toPaise(amount),
    state,
    payout,
  };
}

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
  /** The latest payout of each reference. */
  readonly payouts: ReadonlyMap<string, TransactionResponse>;
  /** The payouts whose money is out. */
  readonly paid: readonly Paid[];
  /** Whether the service is seen to pay again for a repeated reference. */
  readonly paysAgain: boolean;
  /** The send that made a payout, by its txn_id. */
  readonly makers: ReadonlyMap<string | null, Call>;
  /** The entries that brought money into the wallet, oldest first. */
  readonly moneyIn: readonly EntryResponse[];
  readonly expect: RefereeSettings['expect'];
  readonly limits: RefereeLimits;
  readonly wallNowMs: number | null;
  /** How many seconds of world time pass in one of wall time; 1 on a frozen clock, which only a test moves. */
  readonly speed: number;
}

/** Groups in the order of their first members. Whatever has no key is left out. */
export function* inGroups<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string | null,
): Steps<ReadonlyMap<string, readonly Item[]>> {
  const groups = new Map<string, Item[]>();
  yield* inSteps(items, (item) => {
    const key = keyOf(item);
    if (key === null) return;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  });
  return groups;
}

/** The same at once. */
export const groupedBy = <Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string | null,
): ReadonlyMap<string, readonly Item[]> => whole(inGroups(items, keyOf));

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

export function* caseInSteps(
  { requests, ledger, wall_now, clientEnded, speed = 0 }: Evidence,
  { intent, expect, limits }: RefereeSettings,
): Steps<Case> {
  const references = new Map<string | null, string>();
  yield* inSteps([...requests, ...ledger.payouts], ({ txn_id, client_ref_id }) => {
    if (txn_id !== null && client_ref_id !== null) references.set(txn_id, client_ref_id);
  });
  const all = clientEnded ? leftAtEnd(requests, wall_now) : requests;
  const inOrder = all.toSorted((a, b) => a.id - b.id);
  const calls = yield* inSteps(inOrder, (entry) => callOf(entry, (txnId) => references.get(txnId)));
  const initiates = calls.filter(({ route }) => route === 'initiate');
  const sends = yield* inGroups(initiates, referenceOf);
  const intents = yield* intentsOf(initiates, intent);
  const made = initiates.filter(({ committed }) => committed === true);
  const payouts = new Map<string, TransactionResponse>();
  const paid = yield* inSteps(ledger.payouts, (payout) => {
    payouts.set(payout.client_ref_id, payout);
    return paidBy(payout);
  });
  const tryOf = (call: Call): string | null => intents.of(call) ?? call.reference;
  return {
    calls,
    initiates,
    byReference: yield* inGroups(calls, referenceOf),
    sends,
    intents,
    tries: intents.isDeclared ? yield* inGroups(initiates, tryOf) : sends,
    clientEnded,
    payouts,
    paid: paid.filter((one) => one !== null),
    paysAgain: ledger.payouts.some(({ nth }) => nth > 1),
    makers: new Map(made.map((call) => [call.entry.txn_id, call])),
    moneyIn: ledger.entries.filter(({ kind }) => isMoneyIn(kind)),
    expect,
    limits: limits ?? USUAL_LIMITS,
    wallNowMs: wall_now === null ? null : Date.parse(wall_now),
    speed: speed || 1,
  };
}

/** The same at once. */
export const caseOf = (...given: Parameters<typeof caseInSteps>): Case => whole(caseInSteps(...given));
