import type { Ledger } from '../../src/ledger/ledger.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';

/** Every ledger that stands behind the seam passes all tests of ledgers unchanged. */
export const LEDGERS: readonly (readonly [name: string, make: (maxTransactions: number) => Ledger])[] = [
  ['memory', (max) => new MemoryLedger(max)],
];
