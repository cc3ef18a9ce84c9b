import { LATEST_MS } from '../contract/service.ts';
import type { Entry, Payout } from '../contract/snapshot.ts';
import { Refusal } from '../contract/errors.ts';
import { isMoneyBack, nextDueMs } from '../payout/payout.ts';
import { afterStep, nextStep } from '../payout/timeline.ts';
import { invariant, payOut, refund } from '../payout/money.ts';
import { freeUtr } from '../payout/utr.ts';
import type { Context } from './commands.ts';
import type { StateEvent } from './events.ts';
import { indexPayout, nowMs, replacePayout, scheduleStep } from './state.ts';
import type { Due, WorldState } from './state-shape.ts';

/** Names a payout: by the service's identifier, the client's own, or both, which must then name the same one. */
export interface PayoutKey {
  readonly txnId?: string | undefined;
  readonly clientRefId?: string | undefined;
}

/** The position of the payout that a key names; undefined when there is none. For a reference, that of the latest. */
export function positionOf(
  { index, payouts }: WorldState,
  { txnId, clientRefId }: PayoutKey,
): number | undefined {
  if (txnId === undefined) return clientRefId === undefined ? undefined : index.byReference.get(clientRefId);
  const position = index.byTxnId.get(txnId);
  if (position === undefined || clientRefId === undefined) return position;
  return payouts[position]!.clientRefId === clientRefId ? position : undefined;
}

export function findPayout(state: WorldState, key: PayoutKey): Payout | undefined {
  const position = positionOf(state, key);
  return position === undefined ? undefined : state.payouts[position];
}

export const unknownTxnId = (txnId: string): Refusal =>
  new Refusal('TRANSACTION_NOT_FOUND', { message: `This world has no transaction ${txnId}` });

/** Records why the balance is what it now is. @param amountPaise signed: below 0 when it left the balance */
export function recordEntry(
  { entries, wallet: { balancePaise } }: WorldState,
  kind: Entry['kind'],
  amountPaise: number,
  txnId: string | null,
  atMs: number,
): Entry {
  invariant(entries.at(-1)!.balancePaise + amountPaise === balancePaise, 'entries explain every paisa');
  const entry = { kind, amountPaise, balancePaise, txnId, atMs };
  entries.push(entry);
  return entry;
}

export function addPayout(state: WorldState, payout: Payout): void {
  const { txnId, clientRefId, amountPaise, createdAtMs, nth } = payout;
  const earlier = findPayout(state, { clientRefId });
  invariant(!state.index.byTxnId.has(txnId), 'one txn_id, one payout');
  invariant(nth === (earlier?.nth ?? 0) + 1, 'the payouts of a reference are numbered without a gap');
  state.wallet = payOut(state.wallet, amountPaise);
  recordEntry(state, 'payout', -amountPaise, txnId, createdAtMs);
  const position = state.payouts.push(payout) - 1;
  indexPayout(state, payout, position);
}

/** The first step of the queue. One that a forced transition or an undo has cancelled is dropped when its turn comes. */
function firstDue({ index: { due }, payouts }: WorldState): Due | undefined {
  for (;;) {
    const first = due.peek();
    if (first === undefined) return undefined;
    const payout = payouts[first.position];
    if (payout?.txnId === first.txnId && nextDueMs(payout) === first.dueMs) return first;
    due.pop();
  }
}

/** World time at which the ledger sees the next late initiate; infinite for none that waits for its time. */
const nextLateMs = ({ late }: WorldState): number =>
  late.reduce((earliest, { dueMs }) => Math.min(earliest, dueMs ?? Infinity), Infinity);

/** World time of the next step that waits for its time; null when there is none that the clock can reach. */
export function nextDueMsOf(state: WorldState): number | null {
  const dueMs = Math.min(firstDue(state)?.dueMs ?? Infinity, nextLateMs(state));
  return dueMs > LATEST_MS ? null : dueMs;
}

export function isMoreDue(state: WorldState): boolean {
  const dueMs = nextDueMsOf(state);
  return dueMs !== null && dueMs <= nowMs(state);
}

/**
 * Applies the steps due by the world's time, oldest first, each stamped with its own due time, and has the ledger see late initiates
 * at theirs, behind the steps of the same time.
 *
 * @param commitNext has it see the next of them; without it, they stay
 * @returns how many
 */
export function settleDue<C extends Pick<Context, 'events'>>(
  state: WorldState,
  limit: number,
  context: C,
  commitNext?: (state: WorldState, dueMs: number, context: C) => void,
): number {
  const untilMs = nowMs(state);
  for (let steps = 0; steps < limit; steps += 1) {
    const due = firstDue(state);
    const dueMs = due?.dueMs ?? Infinity;
    const lateMs = commitNext === undefined ? Infinity : nextLateMs(state);
    if (Math.min(dueMs, lateMs) > untilMs) return steps;
    if (lateMs < dueMs) commitNext!(state, lateMs, context);
    else {
      state.index.due.pop();
      takeStep(state, due!.position, dueMs, context.events);
    }
  }
  return limit;
}

/** Applies the next step of a payout: its state changes, and money that is due back is credited. */
export function takeStep(state: WorldState, position: number, atMs: number, events: StateEvent[]): void {
  const { index, payouts } = state;
  const before = payouts[position]!;
  let { utr } = before;
  if (utr === null && nextStep(before)?.utr === true) {
    utr = freeUtr(before.transferMode, atMs, before.utrSerial, index.utrs, index.nextSerials);
    index.utrs.add(utr);
  }
  const after = afterStep(before, atMs, utr);
  replacePayout(state, position, after);
  if (after.state !== before.state && isMoneyBack(after.state)) {
    state.wallet = refund(state.wallet, after.amountPaise);
    recordEntry(state, 'refund', after.amountPaise, after.txnId, atMs);
  }
  scheduleStep(index, after, position);
  const { txnId, clientRefId } = after;
  const change = { txnId, clientRefId, from: before.state, to: after.state, atMs, utr };
  events.push({ type: 'settlement', change, payout: after });
}

/** The invariants that are broken; none in a correct world. It compares sums that were kept separately, so its cost does not depend on the size of the world. */
export function brokenInvariants({ wallet, entries, payouts, index }: WorldState): readonly string[] {
  const { PENDING, SUCCESS, FAILED, REVERSED } = index.tallies;
  const count = PENDING.count + SUCCESS.count + FAILED.count + REVERSED.count;
  const checks: readonly (readonly [string, boolean])[] = [
    ['the balance is never below 0', wallet.balancePaise >= 0],
    [
      'balance + PENDING + SUCCESS = money put in',
      wallet.balancePaise + PENDING.paise + SUCCESS.paise === wallet.putInPaise,
    ],
    ['money out is in PENDING and SUCCESS', wallet.paidOutPaise === PENDING.paise + SUCCESS.paise],
    ['the newest entry shows the balance', entries.at(-1)?.balancePaise === wallet.balancePaise],
    ['every payout is in one state', count === payouts.length],
    ['every payout was made once', index.byTxnId.size === payouts.length],
    [
      'one entry for each payout, one for each whose money was returned',
      entries.length >= payouts.length + FAILED.count + REVERSED.count + 1,
    ],
  ];
  return checks.filter(([, holds]) => !holds).map(([what]) => what);
}
