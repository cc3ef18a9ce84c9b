import type { ExpectedPayout } from '../contract/conduct.ts';
import { failureText } from '../hunt/goals.ts';
import { summed, tableFault, type ToBePaid } from '../hunt/to-be-paid.ts';
import type { FailOn } from '../referee/reports/summary.ts';
import { seconds, verdictOn, type Cell, type CommandRun, type Row } from './cells.ts';
import { MatrixError } from './dialect-rows.ts';
import { moneyDifferences, paidInAll, paidInBoth } from './money-faults.ts';

/** A table of everything that is to be paid. */
interface GivenTable {
  /** Its name in messages. */
  readonly name: string;
  readonly payouts: readonly ExpectedPayout[];
}

/** The parts of a matrix. */
export interface MatrixParts<R extends Row> {
  readonly rows: readonly R[];
  /** Runs the command with a row; with null, with the known dialect of its service. @param limitMs a longer run is ended */
  readonly run: (row: R | null, limitMs: number) => Promise<CommandRun>;
  /** The command that runs a cell again. */
  readonly again: (row: R) => string;
  /** How many runs to do at once. */
  readonly workers: number;
  readonly failOn: FailOn;
  /** What is to be paid; null to use what two runs without failures pay. */
  readonly expect: GivenTable | null;
  /** How long one run may take; null for a limit that depends on the baseline. */
  readonly limitMs: number | null;
  readonly onBaseline: (baseline: Baseline) => void;
  /** Called with the cells in the order of the rows. */
  readonly onCell: (cell: Cell) => void;
  readonly stop: AbortSignal;
}

/** The command without any failure. */
export interface Baseline extends ToBePaid {
  readonly durationMs: number;
  readonly requests: number;
  /** Whether two runs paid differently, so that only what both paid can be compared. */
  readonly isUnsteady: boolean;
}

const BASELINE_LIMIT_MS = 600_000;
/** Retries and timeouts take longer than a run without failures. */
const TIMES_AS_LONG = 5;
const LONGER_BY_MS = 60_000;

const requestsIn = ({ worlds }: CommandRun): number =>
  worlds.reduce((sum, { requests, evicted }) => sum + requests.length + evicted, 0);

const NO_REQUEST =
  'no request with a valid key reached the sandbox: give the command its address and a key, such as --env PAYOUT_URL={url} --env PAYOUT_KEY={key}';

/** @throws MatrixError for a command whose run cannot be a baseline */
function checkBaseline(run: CommandRun): void {
  const { ending } = run;
  const isSilent = requestsIn(run) === 0;
  if (ending.kind !== 'success') {
    const why =
      ending.kind === 'failure' ? failureText(ending) : `it had not ended after ${seconds(ending.afterMs)}`;
    throw new MatrixError(
      `the command fails before any dialect or scenario is tried: ${why}${isSilent ? `; ${NO_REQUEST}` : ''}`,
    );
  }
  if (isSilent) throw new MatrixError(NO_REQUEST);
}

/** Runs the command without failures: twice if there is no table of what is to be paid. */
async function baselineOf<R extends Row>({ run, expect, limitMs }: MatrixParts<R>): Promise<Baseline> {
  const calm = async (): Promise<CommandRun> => {
    const done = await run(null, limitMs ?? BASELINE_LIMIT_MS);
    checkBaseline(done);
    return done;
  };
  const first = await calm();
  const base = { durationMs: first.durationMs, requests: requestsIn(first), isUnsteady: false };
  if (expect !== null) {
    const toBePaid: ToBePaid = { expected: summed(expect.payouts), mostTimes: null };
    const { tooMuch, tooLittle } = moneyDifferences(first.worlds, toBePaid);
    const differences = [...tooMuch, ...tooLittle];
    if (differences.length > 0) throw new MatrixError(tableFault(expect.name, differences));
    return { ...base, ...toBePaid };
  }
  const paid = paidInAll(first.worlds);
  const again = paidInAll((await calm()).worlds);
  const both = paidInBoth(paid, again);
  const count = (table: readonly ExpectedPayout[]): number =>
    table.reduce((sum, { times }) => sum + times, 0);
  return { ...base, ...both, isUnsteady: count(both.expected) < Math.max(count(paid), count(again)) };
}

/**
 * Runs the command once with the known dialect of its service, and then once with every row.
 *
 * @returns the cells that were run, in the order of the rows
 * @throws MatrixError when the command fails without any of the rows, sends nothing, or does not pay what the table says
 */
export async function runMatrix<R extends Row>(parts: MatrixParts<R>): Promise<readonly Cell[]> {
  const { rows, run, again, workers, failOn, onBaseline, onCell, stop } = parts;
  const baseline = await baselineOf(parts);
  if (stop.aborted) return [];
  onBaseline(baseline);
  const { expected, mostTimes } = baseline;
  const limitMs = parts.limitMs ?? baseline.durationMs * TIMES_AS_LONG + LONGER_BY_MS;
  const waiting = [...rows.entries()];
  const cells = new Map<number, Cell>();
  let shown = 0;
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !stop.aborted; next = waiting.shift()) {
      const [index, row] = next;
      const done = await run(row, limitMs);
      if (stop.aborted) return;
      const verdict = verdictOn(row, done, { expected, mostTimes, failOn });
      const { kind, name, choices } = row;
      cells.set(index, { kind, name, choices, ...verdict, durationMs: done.durationMs, again: again(row) });
      for (; cells.has(shown); shown += 1) onCell(cells.get(shown)!);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return [...cells.entries()].toSorted(([a], [b]) => a - b).map(([, cell]) => cell);
}
