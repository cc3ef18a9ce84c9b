import type { RefereeLimits, RefereeSettings } from '../contract/conduct.ts';
import { USUAL_LIMITS } from '../contract/conduct.ts';
import type { EntryAnswer, JournalEntry, TransactionAnswer } from '../contract/control-answers.ts';
import { callOf, inOrder, type Call } from './call.ts';
import { intentsOf, type Intents } from './intents.ts';

/** What a world knows about its client, in the terms of the control API. */
export interface Evidence {
  /** The journal, in any order. */
  readonly requests: readonly JournalEntry[];
  /** How many older requests were dropped from the journal. */
  readonly evicted: number;
  /** null where there is no ledger: a journal or HAR from elsewhere. */
  readonly ledger: {
    readonly payouts: readonly TransactionAnswer[];
    readonly entries: readonly EntryAnswer[];
  } | null;
  /** Wall time at which it was taken: a request that is still under way has lasted until then. ISO 8601. */
  readonly wall_now: string | null;
}

/** Whether an entry of this kind brings money into the wallet. */
export const isMoneyIn = (kind: EntryAnswer['kind']): boolean => kind === 'credit' || kind === 'refund';

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
  readonly ledger: Evidence['ledger'];
  /** The latest payout of each reference. */
  readonly payouts: ReadonlyMap<string, TransactionAnswer>;
  readonly expect: RefereeSettings['expect'];
  readonly limits: RefereeLimits;
  readonly wallNowMs: number | null;
}

function groupedByReference(calls: readonly Call[]): Map<string, Call[]> {
  const groups = new Map<string, Call[]>();
  for (const call of calls) {
    if (call.reference === null) continue;
    const group = groups.get(call.reference);
    if (group === undefined) groups.set(call.reference, [call]);
    else group.push(call);
  }
  return groups;
}

export function caseOf(
  { requests, ledger, wall_now }: Pick<Evidence, 'requests' | 'ledger' | 'wall_now'>,
  { intent, expect, limits }: RefereeSettings,
): Case {
  const references = new Map<string, string>();
  for (const { txn_id, client_ref_id } of [...requests, ...(ledger?.payouts ?? [])]) {
    if (txn_id !== null && client_ref_id !== null) references.set(txn_id, client_ref_id);
  }
  const calls = inOrder(requests).map((placed) => callOf(placed, (txnId) => references.get(txnId)));
  const initiates = calls.filter(({ route }) => route === 'initiate');
  return {
    calls,
    initiates,
    byReference: groupedByReference(calls),
    sends: groupedByReference(initiates),
    intents: intentsOf(initiates, intent),
    ledger,
    payouts: new Map(ledger?.payouts.map((payout) => [payout.client_ref_id, payout])),
    expect,
    limits: limits ?? USUAL_LIMITS,
    wallNowMs: wall_now === null ? null : Date.parse(wall_now),
  };
}
