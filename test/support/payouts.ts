import fc from 'fast-check';
import { STATES, TRANSFER_MODES, type State } from '../../src/contract/payout.ts';
import { payoutIds } from '../../src/domain/identity.ts';
import { mayMove, type NewTransaction, type Step } from '../../src/domain/transaction.ts';
import { sha256 } from '../../src/runtime/digest.ts';
import type { BookRef } from '../../src/ledger/ledger.ts';

export const OPENED_AT_MS = Date.UTC(2026, 0, 15, 10, 30);

export const bookOf = (openingBalancePaise: number, worldId = 'world'): BookRef => ({
  worldId,
  openingBalancePaise,
  openedAtMs: OPENED_AT_MS,
});

/** A payout as the ledger takes it. */
export const newPayout = (reference: string, change: Partial<NewTransaction> = {}): NewTransaction => ({
  ...payoutIds(sha256, 'seed', 'world', reference, 1),
  clientRefId: reference,
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
    const steps: Step[] = [{ to: first, dueMs: createdAtMs + wait }];
    if (first === 'SUCCESS' && reversed) steps.push({ to: 'REVERSED', dueMs: createdAtMs + wait + more });
    return steps;
  });

export const anyMode = fc.constantFrom(...TRANSFER_MODES);
