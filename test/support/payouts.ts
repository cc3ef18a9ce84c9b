import fc from 'fast-check';
import { STATES, TRANSFER_MODES, type State } from '../../src/contract/payout.ts';
import { payoutIds } from '../../src/payout/identity.ts';
import {
  mayMove,
  type Hidden,
  type NewTransaction,
  type Step,
  type Transaction,
} from '../../src/payout/payout.ts';
import type { Entry } from '../../src/payout/wallet.ts';
import { sha256 } from '../../src/platform/digest.ts';
import type {
  BookHead,
  BookRef,
  FindOutcome,
  InitiateOutcome,
  Ledger,
  RestoreOutcome,
  Settled,
  TransactionKey,
} from '../../src/ledger/ledger.ts';

export const OPENED_AT_MS = Date.UTC(2026, 0, 15, 10, 30);

export const bookOf = (openingBalancePaise: number, worldId = 'world'): BookRef => ({
  worldId,
  openingBalancePaise,
  openedAtMs: OPENED_AT_MS,
});

/** An initiate in the default dialect, which forgets the payouts that it refused. */
export const pay = (
  ledger: Ledger,
  book: BookRef,
  nowMs: number,
  payout: NewTransaction,
): Promise<InitiateOutcome> => ledger.initiate(book, nowMs, payout, { rememberInsufficient: false });

/** A status read that shows what is. */
export const look = (
  ledger: Ledger,
  book: BookRef,
  nowMs: number,
  key: TransactionKey,
): Promise<FindOutcome> => ledger.find(book, nowMs, key, null);

/** The state of a book with all that is in it at hand. */
export interface WholeState extends BookHead {
  readonly entries: readonly Entry[];
  readonly transactions: readonly Transaction[];
}

/** All of a book, at a time. */
export async function inspect(ledger: Ledger, book: BookRef, nowMs: number): Promise<WholeState & Settled> {
  const { entries, transactions, ...rest } = await ledger.inspect(book, nowMs);
  return { ...rest, entries: [...entries], transactions: [...transactions] };
}

/** Restores a state in as many pieces as it has items. */
export async function restore(
  ledger: Ledger,
  book: BookRef,
  { entries, transactions, ...head }: WholeState,
): Promise<RestoreOutcome> {
  const draft = await ledger.draft(head);
  for (const entry of entries) await ledger.extend(draft, { entries: [entry] });
  for (const transaction of transactions) await ledger.extend(draft, { transactions: [transaction] });
  return ledger.restore(book, draft);
}

/** A step at its time, with a UTR where money reached the rail. */
export const step = (to: State, dueMs: number): Step => ({
  to,
  dueMs,
  polls: null,
  utr: to !== 'FAILED',
  forced: false,
});

/** A payout as the ledger takes it. */
export const newPayout = (reference: string, change: Partial<NewTransaction> = {}): NewTransaction => ({
  ...payoutIds(sha256, 'seed', 'world', reference, change.nth ?? 1),
  clientRefId: reference,
  nth: 1,
  hidden: null,
  fingerprint: 'same',
  amountPaise: 100,
  transferMode: 'IMPS',
  beneficiaryName: 'Asha Rao',
  beneficiaryAccount: '000123456789',
  beneficiaryIfsc: 'SBIN0000001',
  createdAtMs: OPENED_AT_MS,
  plannedBy: 'demo',
  timeline: [],
  ...change,
});

/** A step that waits for a status read, with a UTR where money reached the rail. */
export const atRead = (to: State, polls: number): Step => ({
  to,
  dueMs: null,
  polls,
  utr: to !== 'FAILED',
  forced: false,
});

/** A step at which only the UTR comes. */
export const utrAt = (dueMs: number): Step => ({ to: null, dueMs, polls: null, utr: true, forced: false });

const seldom = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });

/**
 * Any legal timeline of up to four steps, as waits after creation: by time or by status reads, with a UTR that comes early,
 * late or never.
 */
export const anyTimeline = fc
  .array(
    fc.record({
      to: fc.constantFrom<State | null>(...STATES, null),
      waitMs: fc.nat(1000),
      polls: seldom(fc.integer({ min: 1, max: 4 })),
      utr: fc.boolean(),
    }),
    { maxLength: 4 },
  )
  .map((plans) => (createdAtMs: number): Step[] => {
    let from: State = 'PENDING';
    let dueMs = createdAtMs;
    const steps: Step[] = [];
    for (const { to, waitMs, polls, utr } of plans) {
      if (to !== null && !mayMove(from, to)) continue;
      from = to ?? from;
      if (polls === null) dueMs += waitMs;
      steps.push({ to, polls, dueMs: polls === null ? dueMs : null, utr: utr || to === null, forced: false });
    }
    return steps;
  });

/** How long status reads may not know a payout. */
export const anyHidden = seldom(
  fc.oneof(
    fc.record({ reads: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ forMs: fc.integer({ min: 1, max: 1000 }) }),
  ),
).map((hidden) => (createdAtMs: number): Hidden | null => {
  if (hidden === null) return null;
  const by = 'test/hidden';
  return 'reads' in hidden ? { ...hidden, by } : { untilMs: createdAtMs + hidden.forMs, by };
});

export const anyMode = fc.constantFrom(...TRANSFER_MODES);
