import type { CheckReport, ConductReports } from '../../contract/conduct.ts';
import { timeText } from '../../contract/duration.ts';
import { foundChecks, isFailure, type FailOn } from '../../referee/reports/summary.ts';
import { misreportedIn, moneyDifferences, type ToBePaid } from '../run-money.ts';
import type { Ending, Run } from '../run.ts';

/** One run of the command against a sandbox of its own. */
export interface CommandRun extends Run {
  /** The reports of the referee on every world. */
  readonly conduct: ConductReports;
}

/** The dialect or scenario of a run. */
export interface Row {
  readonly kind: 'dialect' | 'scenario';
  readonly name: string;
  /** Names it on the command line. */
  readonly choices: string;
}

/** How a run ended, the most severe last. */
export const VERDICTS = [
  'survives',
  'not exercised',
  'tests fail',
  'misreported',
  'conduct',
  'money',
  'hangs',
] as const;
export type CellVerdict = (typeof VERDICTS)[number];

/** Whether a result is a failure. What was not exercised has neither failed nor passed. */
export const hasFailed = ({ verdict }: Pick<Cell, 'verdict'>): boolean =>
  verdict !== 'survives' && verdict !== 'not exercised';

/** A row with its result. */
export interface Cell extends Row {
  readonly verdict: CellVerdict;
  /** Why it failed, line by line; for a cell that survives, remarks. */
  readonly why: readonly string[];
  readonly durationMs: number;
  /** How many requests got a response that the client never sees in the baseline. */
  readonly met: number;
  /** The command that runs this cell again. */
  readonly again: string;
}

/** What a client may know of a payout that is missing through no fault of its own. */
export const NOT_PAID = ['refused', 'FAILED', 'REVERSED'] as const;

/** How many of the last lines of its output are shown. */
const MOST_LINES = 12;

const failureLines = ({ ending }: CommandRun): readonly string[] => {
  if (ending.kind !== 'failure') return [];
  const { why, output = '' } = ending;
  return output === '' ? [why] : [why, ...output.split('\n').slice(-MOST_LINES)];
};

/** What an exit code other than that of success says. */
function whatItSays({ isInDoubt, isSaid }: Extract<Ending, { kind: 'failure' }>): string {
  if (isInDoubt) return 'it says that it is in doubt, and';
  return isSaid ? 'it reports a failure, and' : 'its tests fail, but';
}

/** The most severe finding of a check, as lines. */
const findingLines = ({ id, findings }: CheckReport): readonly string[] => {
  const { message, lines, fix } = findings[0]!;
  return [`${id}: ${message}`, ...[...lines, `fix: ${fix}`].map((line) => `  ${line}`)];
};

/**
 * How a run ended. What its client saw of the row at all decides whether it proves anything. For a dialect, the exit code decides,
 * unless an account was paid too often. For a scenario, the money and the referee decide, since a test that expects SUCCESS rightly
 * fails when the service refuses everything.
 */
export function verdictOn(
  { kind }: Pick<Row, 'kind'>,
  run: CommandRun,
  met: number,
  toBePaid: ToBePaid,
  failOn: FailOn,
): Pick<Cell, 'verdict' | 'why'> {
  const { ending, conduct } = run;
  if (ending.kind === 'stuck') {
    return {
      verdict: 'hangs',
      why: [`it was still running and was ended after ${timeText(ending.afterMs)}`],
    };
  }
  const isDialect = kind === 'dialect';
  if (isDialect && ending.kind === 'failure') return { verdict: 'tests fail', why: failureLines(run) };
  const { tooMuch, tooLittle } = moneyDifferences(run, toBePaid, NOT_PAID);
  const lost = ending.kind === 'success' && !isDialect ? tooLittle : [];
  const faults = [...tooMuch, ...lost.map((what) => `the command ends with success, but ${what}`)];
  const misreported = isDialect
    ? null
    : misreportedIn(run, toBePaid.expected, ending.kind === 'failure' && ending.isSaid === true);
  const failing = conduct.worlds.flatMap(foundChecks).filter((check) => isFailure(check, failOn));
  const findings = isDialect ? [] : failing.flatMap(findingLines);
  if (faults.length > 0) return { verdict: 'money', why: [...faults, ...findings] };
  if (findings.length > 0) return { verdict: 'conduct', why: findings };
  if (misreported !== null) return { verdict: 'misreported', why: [misreported] };
  return {
    verdict: met === 0 ? 'not exercised' : 'survives',
    why: ending.kind === 'success' ? [] : [`${whatItSays(ending)} the money is right`],
  };
}
