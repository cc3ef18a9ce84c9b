import type { CheckReport, ConductReports } from '../contract/conduct.ts';
import type { Ending } from '../hunt/goals.ts';
import type { ToBePaid } from '../hunt/to-be-paid.ts';
import type { Evidence } from '../referee/case.ts';
import { foundChecks, isFailure, type FailOn } from '../referee/reports/summary.ts';
import { moneyFaults } from './money-faults.ts';

/** One run of the command against a sandbox of its own. */
export interface CommandRun {
  readonly ending: Ending;
  readonly durationMs: number;
  /** The reports of the referee on every world. */
  readonly conduct: ConductReports;
  /** The evidence of every world. */
  readonly worlds: readonly Evidence[];
}

/** The dialect or scenario of a run. */
export interface Row {
  readonly kind: 'dialect' | 'scenario';
  readonly name: string;
  /** Names it on the command line. */
  readonly choices: string;
}

/** How a run ended, the most severe last. */
export const VERDICTS = ['survives', 'tests fail', 'conduct', 'money', 'hangs'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** A row with its result. */
export interface Cell extends Row {
  readonly verdict: Verdict;
  /** Why it failed, line by line; for a cell that survives, remarks. */
  readonly why: readonly string[];
  readonly durationMs: number;
  /** The command that runs this cell again. */
  readonly again: string;
}

/** The standard by which money and conduct are judged. */
export interface Standard extends ToBePaid {
  readonly failOn: FailOn;
}

/** How many of the last lines of its output are shown. */
const MOST_LINES = 12;

const failureLines = ({ ending }: CommandRun): readonly string[] => {
  if (ending.kind !== 'failure') return [];
  const { why, output = '' } = ending;
  return output === '' ? [why] : [why, ...output.split('\n').slice(-MOST_LINES)];
};

/** The most severe finding of a check, as lines. */
const findingLines = ({ id, findings }: CheckReport): readonly string[] => {
  const { message, lines, instead } = findings[0]!;
  return [`${id}: ${message}`, ...[...lines, `instead: ${instead}`].map((line) => `  ${line}`)];
};

const conductLines = ({ worlds }: ConductReports, failOn: FailOn): readonly string[] =>
  worlds
    .flatMap(foundChecks)
    .filter((check) => isFailure(check, failOn))
    .flatMap(findingLines);

/**
 * How a run ended. For a dialect, the exit code decides, unless an account was paid too often. For a scenario, the money and the
 * referee decide, since a test that expects SUCCESS rightly fails when the service refuses everything.
 */
export function verdictOn(
  { kind }: Pick<Row, 'kind'>,
  run: CommandRun,
  { failOn, ...toBePaid }: Standard,
): Pick<Cell, 'verdict' | 'why'> {
  const { ending, conduct, worlds } = run;
  if (ending.kind === 'stuck') {
    return {
      verdict: 'hangs',
      why: [`it was still running and was ended after ${seconds(ending.afterMs)}`],
    };
  }
  const isDialect = kind === 'dialect';
  if (isDialect && ending.kind === 'failure') return { verdict: 'tests fail', why: failureLines(run) };
  const faults = moneyFaults(worlds, toBePaid, ending.kind === 'success' && !isDialect);
  const findings = isDialect ? [] : conductLines(conduct, failOn);
  if (faults.length > 0) return { verdict: 'money', why: [...faults, ...findings] };
  if (findings.length > 0) return { verdict: 'conduct', why: findings };
  return {
    verdict: 'survives',
    why: ending.kind === 'success' ? [] : ['its tests fail, but the money is right'],
  };
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
