import type {
  ClockAnswer,
  EntryWire,
  RuleAnswer,
  ScenarioAnswer,
  TransactionWire,
  WalletAnswer,
  WorldAnswer,
} from '../../contract/control-answers.ts';
import { toInr } from '../../payout/money.ts';
import type { Rule } from '../../scenario/rule.ts';
import { isHidden, legalNext, nextStep, type Transaction } from '../../payout/payout.ts';
import type { Entry } from '../../payout/wallet.ts';
import type { World } from '../../log/world.ts';
import type { SummaryOutcome } from '../../ledger/ledger.ts';

/** What the control API says of what the domain has: INR and timestamps for paise and milliseconds. */

export const iso = (atMs: number): string => new Date(atMs).toISOString();
const isoOrNull = (atMs: number | null): string | null => (atMs === null ? null : iso(atMs));

export const clockAnswer = ({ book }: World, nextDueMs: number | null): ClockAnswer => ({
  now: iso(book.nowMs),
  frozen: book.isFrozen,
  next_due: isoOrNull(nextDueMs),
});

export function worldAnswer(world: World, summary: SummaryOutcome): WorldAnswer {
  const { tallies, wallet, openingBalancePaise, broken, nextDueMs } = summary;
  return {
    id: world.id,
    balance: toInr(wallet.balancePaise),
    opening_balance: toInr(openingBalancePaise),
    transactions: {
      PENDING: tallies.PENDING.count,
      SUCCESS: tallies.SUCCESS.count,
      FAILED: tallies.FAILED.count,
      REVERSED: tallies.REVERSED.count,
    },
    clock: clockAnswer(world, nextDueMs),
    scenario: world.scenario.name,
    invariants: broken.length === 0 ? 'hold' : [...broken],
  };
}

export const walletAnswer = (summary: SummaryOutcome): WalletAnswer => {
  const { tallies, wallet, openingBalancePaise, lastUpdatedMs } = summary;
  return {
    balance: toInr(wallet.balancePaise),
    currency: 'INR',
    opening_balance: toInr(openingBalancePaise),
    in_flight: toInr(tallies.PENDING.paise),
    paid_out: toInr(tallies.SUCCESS.paise),
    came_back: toInr(tallies.FAILED.paise + tallies.REVERSED.paise),
    last_updated: iso(lastUpdatedMs),
  };
};

export const entryWire = ({ kind, amountPaise, balancePaise, txnId, atMs }: Entry): EntryWire => ({
  kind,
  amount: toInr(amountPaise),
  balance: toInr(balancePaise),
  txn_id: txnId,
  at: iso(atMs),
});

/** Why a payout is in the state that it is in, in a sentence. */
function reasonOf(transaction: Transaction): string {
  const { state, timeline, stepsDone, plannedBy } = transaction;
  const last = timeline.slice(0, stepsDone).findLast(({ to }) => to !== null);
  const next = nextStep(transaction);
  if (last !== undefined) {
    if (last.forced) return `${state} by a transition that was ordered`;
    const waited = last.polls === null ? '' : `, at status read ${last.polls}`;
    return `${state} as planned by ${plannedBy}${waited}`;
  }
  if (next === undefined) return `PENDING for ever: ${plannedBy} plans nothing more`;
  const what = next.to === null ? 'its UTR' : next.to;
  if (next.dueMs !== null) return `PENDING: ${plannedBy} plans ${what} for ${iso(next.dueMs)}`;
  return `PENDING: ${plannedBy} plans ${what} at status read ${next.polls}, and there were ${transaction.reads}`;
}

export const transactionWire = (transaction: Transaction, nowMs: number): TransactionWire => ({
  txn_id: transaction.txnId,
  client_ref_id: transaction.clientRefId,
  status: transaction.state,
  amount: toInr(transaction.amountPaise),
  transfer_mode: transaction.transferMode,
  beneficiary_name: transaction.beneficiaryName,
  beneficiary_account: transaction.beneficiaryAccount,
  beneficiary_ifsc: transaction.beneficiaryIfsc,
  utr: transaction.utr,
  created_at: iso(transaction.createdAtMs),
  completed_at: isoOrNull(transaction.completedAtMs),
  nth: transaction.nth,
  planned_by: transaction.plannedBy,
  reason: reasonOf(transaction),
  hidden_by: isHidden({ ...transaction, reads: transaction.reads + 1 }, nowMs)
    ? transaction.hidden!.by
    : null,
  legal: [...legalNext(transaction.state)],
  timeline: transaction.timeline.map(({ to, dueMs, polls, utr, forced }, index) => ({
    to,
    at: isoOrNull(dueMs),
    polls,
    utr,
    done: index < transaction.stepsDone,
    forced,
  })),
});

const FROM_WORLD = 'world/';
const FROM_MAGIC = 'magic/';

export function ruleAnswer({ id, document }: Rule, { behaviour }: World): RuleAnswer {
  const { matched, taken } = behaviour.uses.get(id) ?? { matched: 0, taken: 0 };
  const { description } = document as { readonly description?: string };
  return {
    id,
    name: id.slice(id.indexOf('/') + 1),
    from: id.startsWith(FROM_WORLD) ? 'world' : id.startsWith(FROM_MAGIC) ? 'magic' : 'scenario',
    description: description ?? '',
    matched,
    taken,
    rule: document,
  };
}

export function scenarioAnswer(world: World): ScenarioAnswer {
  const { plain, hasChosen } = world.behaviour;
  return {
    name: plain.name,
    description: plain.description,
    chosen: hasChosen,
    document: plain.source.document,
    rules: world.scenario.rules.map((rule) => ruleAnswer(rule, world)),
  };
}
