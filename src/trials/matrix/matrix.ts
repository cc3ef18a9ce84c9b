import type { ConductReports, ExpectedPayout, Intent, WorldReport } from '../../contract/conduct.ts';
import type { InitiateRequest } from '../../contract/service.ts';
import { timeText } from '../../contract/times.ts';
import { UsageError } from '../../contract/usage-error.ts';
import { summed } from '../../referee/payments.ts';
import {
  detailLines,
  foundChecks,
  isFailure,
  missingIn,
  type FailOn,
} from '../../referee/reports/summary.ts';
import { newResponses, responsesIn } from '../exercised.ts';
import {
  misreportedIn,
  moneyDifferences,
  paidIn,
  paidInBoth,
  tableFault,
  type ToBePaid,
} from '../run-money.ts';
import { baselineFault, noRequestText, requestsIn, type Run } from '../run.ts';

/** One run of the command against a sandbox of its own. */
export interface CommandRun extends Run {
  /** The reports of the referee on every world. */
  readonly conduct: ConductReports;
  /** Whether it started sandboxes itself: a test suite, whose exit code says nothing about any payout. */
  readonly isSuite?: boolean;
  /** What its tests found wrong with `world.reported`. */
  readonly misreported?: readonly string[];
}

/** The dialect or scenario of a run. */
export interface MatrixRow {
  readonly kind: 'dialect' | 'scenario';
  /** As on the command line. */
  readonly name: string;
  /** Whether it changes nothing but the dialect: the service does all that it is asked to, so tests should pass. */
  readonly isDialectOnly?: boolean;
}

/** How a run ended, the most severe last, and how the last line counts such runs. */
export const VERDICTS = {
  survives: 'survive',
  'not exercised': 'not exercised',
  warned: 'with warnings',
  'tests fail': 'with failing tests',
  misreported: 'misreported',
  conduct: 'with bad conduct',
  money: 'with wrong money',
  hangs: 'hang',
} as const;

/** A row with its result. */
export interface Cell extends MatrixRow {
  readonly verdict: keyof typeof VERDICTS;
  /** Whether the command fails because of it. Tests that fail do so only where nothing but the dialect differs. */
  readonly failed: boolean;
  /** Why it failed, line by line; otherwise remarks. */
  readonly why: readonly string[];
  readonly durationMs: number;
  /** How many requests got a response that the client never sees in the baseline. */
  readonly seen: number;
  /** The command that runs this cell again. */
  readonly again: string;
}

/** The command without any failure. */
export interface Baseline extends ToBePaid {
  readonly durationMs: number;
  readonly requests: number;
  /** The bodies of the initiates that made its payouts. */
  readonly payouts: readonly InitiateRequest[];
  /** What the referee warns of without any failure: a row does not repeat it. */
  readonly warnings: readonly string[];
  /** What the client sees without any failure. */
  readonly responses: ReadonlySet<string>;
  /** Whether two runs paid differently, so that only what both paid can be compared. */
  readonly isFlaky: boolean;
}

/** What a client may know of a payout that is missing through no fault of its own. */
const NOT_PAID = ['refused', 'FAILED', 'REVERSED'] as const;

const SETTLES_AT_ONCE =
  '; in a matrix, payouts settle with the next request: --settlement demo lets them settle later, as serve does';

/**
 * Runs the command twice without failures, with the known dialect of its service.
 *
 * @param expect everything that is to be paid, and its name in messages; null to use what both runs pay
 * @param intent which references belong to one payout
 * @throws UsageError when the command fails, sends nothing, or does not pay what the table says
 */
export async function baselineOf(
  run: () => Promise<CommandRun>,
  expect: { readonly name: string; readonly payouts: readonly ExpectedPayout[] } | null,
  intent: Intent | undefined,
): Promise<Baseline> {
  const runOnce = async (): Promise<CommandRun> => {
    const done = await run();
    const fault = baselineFault(done, noRequestText(''), done.conduct.worlds);
    if (fault === null) return done;
    throw new UsageError(done.ending.kind === 'failure' ? `${fault}${SETTLES_AT_ONCE}` : fault);
  };
  const first = await runOnce();
  const table = expect && summed(expect.payouts);
  const fault = expect && tableFault(first, table!, expect.name, NOT_PAID);
  if (fault !== null) throw new UsageError(fault);
  if (paidIn(first).length === 0) {
    throw new UsageError(
      'without any failure, the command makes no payout, so nothing could be paid twice or lost: give it something to pay',
    );
  }
  const second = await runOnce();
  const { areAlike, ...paid } = paidInBoth(first, second, intent);
  return {
    ...(table === null ? paid : { expected: table, usual: null }),
    durationMs: first.durationMs,
    requests: requestsIn(first),
    payouts: first.worlds.flatMap(({ requests }) =>
      requests.filter(({ committed }) => committed).map(({ request }) => request.body as InitiateRequest),
    ),
    warnings: warningsIn([first, second].flatMap(({ conduct }) => conduct.worlds)),
    responses: responsesIn([...first.worlds, ...second.worlds]),
    isFlaky: table === null && !areAlike,
  };
}

/** What the referee warns of, or finds wrong, as lines; each once. */
const warningsIn = (worlds: readonly WorldReport[]): readonly string[] => {
  const found = worlds.flatMap(foundChecks).filter(({ severity }) => severity !== 'notice');
  const lines = found.flatMap(({ id, findings }) => findings.map(({ message }) => `${id}: ${message}`));
  return [...new Set(lines)];
};

/** What the client reports wrongly; null for nothing that is known. A suite says it in its tests, or in exit codes that were declared. */
function misreportOf(run: CommandRun, { expected }: Baseline): string | null {
  const { ending, isSuite = false, misreported: [first] = [] } = run;
  if (first !== undefined) return first;
  const isExact = ending.kind === 'failure' && ending.isSaid === true;
  return isSuite && !isExact && ending.kind === 'failure' ? null : misreportedIn(run, expected, isExact);
}

/**
 * The result of a run. What its client saw of the row at all decides whether it proves anything. Where more than the dialect
 * differs, tests that fail fail nothing, since one that expects SUCCESS rightly fails when the service refuses everything.
 */
export function cellOf(
  { kind, name, isDialectOnly = kind === 'dialect' }: MatrixRow,
  run: CommandRun,
  baseline: Baseline,
  failOn: FailOn,
  again: string,
): Cell {
  const { ending, durationMs, worlds, conduct, isSuite = false } = run;
  const seen = newResponses(worlds, baseline.responses);
  const cellWith = (verdict: Cell['verdict'], why: readonly string[], failed = true): Cell => {
    return { kind, name, verdict, failed, why, durationMs, seen, again };
  };
  if (ending.kind === 'stuck') {
    return cellWith('hangs', [`it was still running and was ended after ${timeText(ending.afterMs)}`]);
  }
  const { tooMuch, tooLittle } = moneyDifferences(run, baseline, NOT_PAID);
  const lost = ending.kind === 'success' ? tooLittle : [];
  const faults = [...tooMuch, ...lost.map((what) => `the command ends with success, but ${what}`)];
  const failing = conduct.worlds.flatMap(foundChecks).filter((check) => isFailure(check, failOn));
  const findings = failing.flatMap(({ id, findings: [worst] }) =>
    [`${id}: ${worst!.message}`].concat(detailLines(worst!).map((line) => `  ${line}`)),
  );
  if (faults.length > 0) return cellWith('money', [...faults, ...findings]);
  const unknown = conduct.worlds.flatMap((report) => missingIn(report) ?? []); // its intent read references in the baseline
  if (findings.length > 0 || unknown.length > 0) return cellWith('conduct', [...findings, ...unknown]);
  const misreported = misreportOf(run, baseline);
  if (misreported !== null) return cellWith('misreported', [misreported]);
  const warnings = warningsIn(conduct.worlds).filter((line) => !baseline.warnings.includes(line));
  if (ending.kind === 'failure' && (isSuite || isDialectOnly)) {
    const output = isDialectOnly ? (ending.output ?? '').split('\n') : [];
    const why = [ending.why, ...output, ...warnings].filter(Boolean);
    return cellWith('tests fail', why, isDialectOnly);
  }
  const why = ending.kind === 'success' ? [] : [`${ending.why}, but the money is right`];
  if (warnings.length > 0) return cellWith('warned', [...why, ...warnings], false);
  return cellWith(seen === 0 ? 'not exercised' : 'survives', why, false);
}
