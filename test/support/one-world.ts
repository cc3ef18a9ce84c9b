import { changedDialect, DEFAULT_DIALECT, type DialectChange } from '../../src/contract/dialect.ts';
import type { InitiateRequest } from '../../src/contract/payout.ts';
import { frozenClock } from '../../src/world/clock.ts';
import type { WorldEvent } from '../../src/world/event-log.ts';
import { HistoryBudget } from '../../src/world/bounded-log.ts';
import type { Plan } from '../../src/scenario/plan.ts';
import type { Rule } from '../../src/scenario/rule.ts';
import { compileScenario, type Scenario } from '../../src/scenario/scenario.ts';
import { World } from '../../src/log/world.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import { sha256 } from '../../src/platform/digest.ts';
import { ManualClock } from './manual-clock.ts';
import { PAYOUT } from './sandbox.ts';

const START = Date.parse('2026-01-15T10:30:00Z');

/** A scenario as a document makes it, in another dialect. */
export function scenarioOf(
  document: Parameters<typeof compileScenario>[0] = {},
  dialect: DialectChange = {},
): Scenario {
  const settings = {
    openingBalancePaise: 1000,
    seed: '1',
    clock: frozenClock(START),
    settlement: 'demo',
    rateLimit: 'off',
    isMagic: false,
  } as const;
  const options = {
    name: 'test',
    source: document,
    settings,
    lastRules: () => [],
    dialects: () => new Map(),
  };
  const { scenario } = compileScenario(document, { ...options, patternOf: (text) => new RegExp(text) });
  return { ...scenario, dialect: changedDialect(DEFAULT_DIALECT, dialect) };
}

/** The only rule of a scenario. */
export const ruleOf = (name: string, effect = {}, more = {}): Rule =>
  scenarioOf({ rules: [{ name, effect, ...more }] }).rules[0]!;

/** What is to become of a request that no chance touches. */
export const planOf = (dialect: DialectChange = {}, rule: Rule | null = null): Plan => ({
  scenario: scenarioOf({}, dialect),
  rule,
  delayMs: 0,
  draw: () => 0,
  attempt: 0,
});

/** A world without a server around it, whose events are read from `watch` on. */
export function worldFor({ scenario = scenarioOf(), ledger = new MemoryLedger(100) } = {}) {
  const historyBudget = new HistoryBudget(1e9);
  const attemptBudget = { max: 1e6, held: 0 };
  const world = new World('w', {
    scenarioInForce: () => scenario,
    ledger,
    digest: sha256,
    wallClock: new ManualClock(START),
    observer: { settled: () => undefined, failed: () => undefined },
    attemptBudget,
    historyBudget,
    journalLimits: { items: 10, bytes: 1e6 },
  });
  const events: WorldEvent[] = [];
  const watch = () =>
    world.events.read(undefined, { take: (event) => void events.push(event), end: () => undefined });
  const told = () => events.map(({ type, data }) => [type, JSON.parse(data)]);
  return { world, watch, told, historyBudget, attemptBudget };
}

export const request = (change: Partial<InitiateRequest> = {}): InitiateRequest => ({
  ...PAYOUT,
  transfer_mode: 'IMPS',
  amount: 1,
  ...change,
});
