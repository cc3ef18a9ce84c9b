import { DEFAULT_DIALECT } from '../../src/contract/dialect.ts';
import type { InitiateRequest } from '../../src/contract/payout.ts';
import { runningClock } from '../../src/world/clock.ts';
import type { Plan } from '../../src/scenario/plan.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import type { Change } from '../../src/payout/payout.ts';
import { HistoryBudget } from '../../src/world/bounded-log.ts';
import type { DropReason } from '../../src/world/payout-refusals.ts';
import { Worlds } from '../../src/log/worlds.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import { sha256 } from '../../src/platform/digest.ts';
import { ManualClock } from './manual-clock.ts';
import { PAYOUT } from './sandbox.ts';

export const DAY_MS = 86_400_000;
const SETTINGS = {
  openingBalancePaise: 1_000_000,
  seed: '1',
  clock: runningClock,
  settlement: 'demo',
  rateLimit: 'off',
  isMagic: false,
} as const;
export const SCENARIO: Scenario = {
  name: 'test',
  source: { document: {}, settings: SETTINGS },
  description: '',
  openingBalancePaise: 1_000_000,
  seed: '1',
  clock: runningClock,
  settlement: 'demo',
  rateLimit: 'off',
  hasOwnRateLimit: false,
  dialect: DEFAULT_DIALECT,
  rules: [],
  countsAttempts: false,
};
export const PLAN: Plan = { scenario: SCENARIO, rule: null, delayMs: 0, draw: () => 0, attempt: 0 };

/** Worlds without a server around them, and what was told of them. */
export function worldsFor<T extends ManualClock = ManualClock>(
  options: { maxWorlds?: number; maxTransactions?: number } = {},
  wallClock = new ManualClock() as T,
) {
  const announced: Change[] = [];
  const failures: unknown[] = [];
  const drops: [string, DropReason][] = [];
  const ledger = new MemoryLedger(options.maxTransactions ?? 1_000_000);
  const parts = {
    scenarioInForce: () => SCENARIO,
    attemptBudget: { max: 1000, held: 0 },
    historyBudget: new HistoryBudget(1_000_000),
    journalLimits: { items: 10, bytes: 100_000 },
    ledger,
    digest: sha256,
    wallClock,
    observer: {
      settled: (_worldId: string, change: Change) => announced.push(change),
      failed: (_worldId: string, error: unknown) => failures.push(error),
    },
  };
  const worlds = new Worlds({
    parts,
    maxWorlds: options.maxWorlds ?? 10,
    idleMs: DAY_MS,
    dropped: (worldId, reason) => drops.push([worldId, reason]),
  });
  return { worlds, wallClock, ledger, announced, failures, drops };
}

export const payout = (change: Partial<InitiateRequest> = {}) =>
  ({ ...PAYOUT, amount: 10, ...change }) as InitiateRequest;
