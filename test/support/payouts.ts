import fc from 'fast-check';
import { STATES, TRANSFER_MODES, type State } from '../../src/contract/payout.ts';
import { payoutIds } from '../../src/domain/identity.ts';
import { mayMove, type NewTransaction, type Step } from '../../src/domain/transaction.ts';
import { sha256 } from '../../src/runtime/digest.ts';
import type {
  BookRef,
  FindOutcome,
  InitiateOutcome,
  Ledger,
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

/** A step at its time, with a UTR where money reached the rail. */
export const step = (to: State, dueMs: number): Step => ({ to, dueMs, polls: null, utr: to !== 'FAILED' });

/** A payout as the ledger takes it. */
export const newPayout = (reference: string, change: Partial<NewTransaction> = {}): NewTransaction => ({
  ...payoutIds(sha256, 'seed', 'world', reference, 1),
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
  timeline: [],
  ...change,
});

/** Any legal timeline of up to two steps, as waits after creation. */
export const anyTimeline = fc
  .tuple(fc.constantFrom<State | null>(...STATES, null), fc.nat(1000), fc.boolean(), fc.nat(1000))
  .map(([first, wait, reversed, more]) => (createdAtMs: number): Step[] => {
    if (first === null || !mayMove('PENDING', first)) return [];
    const steps: Step[] = [step(first, createdAtMs + wait)];
    if (first === 'SUCCESS' && reversed) steps.push(step('REVERSED', createdAtMs + wait + more));
    return steps;
  });

export const anyMode = fc.constantFrom(...TRANSFER_MODES);
