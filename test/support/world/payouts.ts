import type { Payout, PayoutStep } from '../../../src/contract/snapshot.ts';
import type { State } from '../../../src/contract/service.ts';
import { payoutIds } from '../../../src/payout/identity.ts';

export const CREATED_AT_MS = Date.UTC(2026, 0, 15, 10, 30);

/** A step so many ms after the payout was made, with a UTR unless it failed. */
export const step = (to: State, afterMs: number): PayoutStep => ({
  to,
  afterMs,
  polls: null,
  utr: to !== 'FAILED',
  forced: false,
});

/** A step that waits for a status read, with a UTR unless it failed. */
export const atRead = (to: State, polls: number): PayoutStep => ({ ...step(to, 0), afterMs: null, polls });

/** A step that only sets the UTR. */
export const utrAfter = (afterMs: number): PayoutStep => ({
  to: null,
  afterMs,
  polls: null,
  utr: true,
  forced: false,
});

/** A payout as it is created. */
export const newPayout = (reference: string, change: Partial<Payout> = {}): Payout => ({
  ...payoutIds('seed', 'world', reference, change.nth ?? 1),
  clientRefId: reference,
  nth: 1,
  hidden: null,
  remarks: null,
  amountPaise: 100,
  transferMode: 'IMPS',
  beneficiaryName: 'Asha Rao',
  beneficiaryAccount: '000123456789',
  beneficiaryIfsc: 'SBIN0000001',
  createdAtMs: CREATED_AT_MS,
  plannedBy: 'demo',
  timeline: [],
  stepsDone: 0,
  reads: 0,
  state: 'PENDING',
  utr: null,
  completedAtMs: null,
  told: null,
  ...change,
});
