import type { ClockStart, RateLimit, ScenarioSource } from '../contract/snapshot.ts';
import { changedDialect, DEFAULT_DIALECT, type Dialect, type DialectChange } from '../contract/dialect.ts';
import {
  MAX_ITEMS,
  OutcomeDocument,
  RuleDocument,
  ScenarioDocument,
  type Calendar,
} from '../contract/scenario-document.ts';
import type { TransferMode } from '../contract/service.ts';
import { BANK_CALENDAR } from '../payout/calendar.ts';
import { startAt, type Settlement, type SettlementPreset } from '../payout/settlement.ts';
import type { Rule } from './rule.ts';
import { toPaise } from '../payout/money.ts';
import { compileOutcome, outcomeName, compileRule, ruleName, type Outcome } from './rule-compiler.ts';
import { plannedTimeline, reportIn, type Report } from './planned-timeline.ts';
import { reportTextPatterns } from './pattern.ts';
import { z } from 'zod';
import { parseShape, type Issue } from '../contract/shape-issues.ts';

/** A scenario document. An outcome or a rule of the wrong shape is null, so that the others keep their positions. */
export interface ShapedScenario extends Omit<ScenarioDocument, 'outcomes' | 'rules'> {
  readonly outcomes: readonly (OutcomeDocument | null)[];
  readonly rules: readonly (RuleDocument | null)[];
}

const Items = z.array(z.unknown()).optional();
const Frame = ScenarioDocument.extend({ outcomes: Items, rules: Items });

/** The shape of a scenario document, and what is wrong with it. Items are checked one by one: an error in one hides none in the others. */
export function scenarioShape(input: unknown): {
  readonly document: ShapedScenario;
  readonly issues: readonly Issue[];
} {
  const { value: frame, issues: found = [] } = parseShape(Frame, input);
  const issues = [...found];
  const itemsOf = <T extends z.ZodType>(list: 'outcomes' | 'rules', schema: T): (z.output<T> | null)[] => {
    const items = found[0]?.path.length === 0 ? [] : (input as Readonly<Record<string, unknown>>)[list];
    if (!Array.isArray(items)) return [];
    if (items.length > MAX_ITEMS) {
      issues.push({ path: [list], message: `must be at most ${MAX_ITEMS} ${list}`, isUnknownKey: false });
      return [];
    }
    return items.map((item: unknown, index) => {
      const { value = null, issues: ofItem = [] } = parseShape(schema, item);
      for (const issue of ofItem) issues.push({ ...issue, path: [list, index, ...issue.path] });
      return value;
    });
  };
  const outcomes = itemsOf('outcomes', OutcomeDocument);
  const rules = itemsOf('rules', RuleDocument);
  return { document: { ...frame, outcomes, rules }, issues };
}

export interface Scenario {
  readonly name: string;
  /** What it was compiled from: its name, the document as written, and the settings. */
  readonly source: ScenarioSource;
  readonly description: string;
  /** How many rules and outcomes of its own it has, and one for the scenario itself. */
  readonly size: number;
  readonly openingBalancePaise: number;
  readonly seed: string;
  readonly clock: ClockStart;
  readonly calendar: Calendar;
  readonly settlement: Settlement;
  readonly rateLimit: RateLimit | 'off';
  /** Whether the rate limit comes from the document, not from the settings. */
  readonly hasOwnRateLimit: boolean;
  readonly hasOwnClock: boolean;
  readonly dialect: Dialect;
  /** Its own outcomes, then those of the magic beneficiaries. */
  readonly outcomes: readonly Outcome[];
  /** Its own rules, then those of the magic beneficiaries. */
  readonly rules: readonly Rule[];
  readonly countsAttempts: boolean;
}

function settlementOf(settlement: ScenarioDocument['settlement'], base: SettlementPreset, report: Report) {
  if (settlement === undefined) return base;
  if (typeof settlement === 'string') return settlement;
  if (Array.isArray(settlement)) {
    const steps = plannedTimeline(settlement, reportIn(report, 'settlement'));
    return { IMPS: steps, NEFT: steps, RTGS: steps, UPI: steps };
  }
  const ofMode = (mode: TransferMode) => {
    const steps = settlement[mode];
    return steps === undefined ? base : plannedTimeline(steps, reportIn(report, 'settlement', mode));
  };
  return { IMPS: ofMode('IMPS'), NEFT: ofMode('NEFT'), RTGS: ofMode('RTGS'), UPI: ofMode('UPI') };
}

function dialectOf(
  document: ScenarioDocument['dialect'],
  base: Dialect,
  dialects: () => ReadonlyMap<string, Dialect>,
  report: Report,
): Dialect {
  if (document === undefined) return base;
  const change: DialectChange = typeof document === 'string' ? { extends: document } : document;
  reportTextPatterns(change, reportIn(report, 'dialect'));
  if (change.extends === undefined) return changedDialect(base, change);
  const presets = dialects();
  const preset = presets.get(change.extends);
  if (preset === undefined) {
    const path = typeof document === 'string' ? ['dialect'] : ['dialect', 'extends'];
    report(path, `must be one of ${[...presets.keys()].join(', ')}`);
  }
  return changedDialect(preset ?? DEFAULT_DIALECT, change);
}

/**
 * Compiles a scenario document. The settings apply where it sets nothing. A scenario with errors must not be used.
 *
 * @param last the outcomes and rules after its own
 * @param dialects the presets by name. Called only for a document that extends one
 */
export function compileScenario(
  document: ShapedScenario,
  source: ScenarioSource,
  last: Pick<Scenario, 'outcomes' | 'rules'>,
  dialects: () => ReadonlyMap<string, Dialect>,
  report: Report,
): Scenario {
  const { name, settings } = source;
  // rules and outcomes share one namespace, since fields such as planned_by name either
  const names = new Map<string, 'rules' | 'outcomes'>();
  const reportDuplicate = (of: string, list: 'rules' | 'outcomes', reportPart: Report): void => {
    const taken = names.get(of);
    const others = taken === list ? `other ${list}` : taken;
    if (taken !== undefined)
      reportPart(['name'], `must differ from the names of the ${others}: ${of} is taken`);
    names.set(of, list);
  };
  const sources = (source.document ?? {}) as Partial<Record<'outcomes' | 'rules', readonly unknown[]>>;
  const ownOutcomes = document.outcomes.flatMap((outcome, index) => {
    if (outcome === null) return [];
    const reportOutcome = reportIn(report, 'outcomes', index);
    const of = outcomeName(outcome, index);
    reportDuplicate(of, 'outcomes', reportOutcome);
    return compileOutcome(outcome, sources.outcomes?.[index], `${name}/${of}`, reportOutcome);
  });
  const ownRules = document.rules.flatMap((rule, index) => {
    if (rule === null) return [];
    const reportRule = reportIn(report, 'rules', index);
    const of = ruleName(rule, index);
    reportDuplicate(of, 'rules', reportRule);
    return compileRule({ ...rule, name: of }, sources.rules?.[index], name, reportRule);
  });
  const rules = [...ownRules, ...last.rules];
  return {
    name,
    source,
    description: document.description ?? '',
    size: 1 + ownOutcomes.length + ownRules.length,
    openingBalancePaise: document.wallet
      ? toPaise(document.wallet.opening_balance)
      : settings.openingBalancePaise,
    seed: document.seed ?? settings.seed,
    clock: document.clock ? startAt(document.clock.at ?? null, document.clock.speed) : settings.clock,
    calendar: document.calendar ?? BANK_CALENDAR,
    settlement: settlementOf(document.settlement, settings.settlement, report),
    hasOwnClock: document.clock !== undefined,
    hasOwnRateLimit: document.rate_limit !== undefined,
    rateLimit: document.rate_limit ?? settings.rateLimit,
    dialect: dialectOf(document.dialect, settings.dialect ?? DEFAULT_DIALECT, dialects, report),
    outcomes: [...ownOutcomes, ...last.outcomes],
    rules,
    countsAttempts: rules.some(({ countsAttempts }) => countsAttempts),
  };
}

export interface ScenarioCompiler {
  /** @throws ScenarioError for a source that cannot be used */
  scenario(source: ScenarioSource): Scenario;
  /** All overrides of a world, called `world/NAME`. @throws ScenarioError also when they have too many patterns together */
  rules(documents: readonly unknown[]): readonly Rule[];
}

export function withOverrides(scenario: Scenario, overrides: readonly Rule[]): Scenario {
  if (overrides.length === 0) return scenario;
  const rules = [...overrides, ...scenario.rules];
  return { ...scenario, rules, countsAttempts: rules.some(({ countsAttempts }) => countsAttempts) };
}
