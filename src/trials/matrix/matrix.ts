import type { ExpectedPayout } from '../../contract/conduct.ts';
import { UsageError } from '../../contract/usage-error.ts';
import { summed } from '../../referee/payments.ts';
import type { FailOn } from '../../referee/reports/summary.ts';
import { newResponses, responsesIn } from '../exercised.ts';
import { NOT_PAID, verdictOn, type Cell, type CommandRun, type Row } from './cells.ts';
import { paidIn, paidInBoth, tableFault, type ToBePaid } from '../run-money.ts';
import { baselineFault, noRequestText, requestsIn } from '../run.ts';

export interface MatrixParts<R extends Row> {
  readonly rows: readonly R[];
  /** Runs the command with a row; with null, with the known dialect of its service. @param limitMs a longer run is ended */
  readonly run: (row: R | null, limitMs: number) => Promise<CommandRun>;
  /** The command that runs a cell again. */
  readonly again: (row: R) => string;
  /** How many runs to do at once. */
  readonly workers: number;
  readonly failOn: FailOn;
  /** Everything that is to be paid, and its name in messages; null to use what two runs without failures pay. */
  readonly expect: { readonly name: string; readonly payouts: readonly ExpectedPayout[] } | null;
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
  /** What the client sees without any failure. */
  readonly responses: ReadonlySet<string>;
  /** Whether two runs paid differently, so that only what both paid can be compared. */
  readonly isFlaky: boolean;
}

const SETTLES_AT_ONCE =
  '; in a matrix, payouts settle with the next request: --settlement demo lets them settle later, as serve does';
const BASELINE_LIMIT_MS = 600_000;
/** Retries and timeouts take longer than a run without failures. */
const TIMES_AS_LONG = 5;
const LONGER_BY_MS = 60_000;

/** Runs the command without failures: twice if there is no table of what is to be paid. */
async function baselineOf<R extends Row>({ run, expect, limitMs }: MatrixParts<R>): Promise<Baseline> {
  const runOnce = async (): Promise<CommandRun> => {
    const done = await run(null, limitMs ?? BASELINE_LIMIT_MS);
    const fault = baselineFault(done, noRequestText(''));
    if (fault !== null)
      throw new UsageError(done.ending.kind === 'failure' ? `${fault}${SETTLES_AT_ONCE}` : fault);
    return done;
  };
  const first = await runOnce();
  const table = expect && { name: expect.name, expected: summed(expect.payouts) };
  const fault = table && tableFault(first, table.expected, table.name, NOT_PAID);
  if (fault !== null) throw new UsageError(fault);
  if (paidIn(first).length === 0) {
    throw new UsageError(
      'without any failure, the command makes no payout, so nothing could be paid twice or lost: give it something to pay',
    );
  }
  const base = { durationMs: first.durationMs, requests: requestsIn(first) };
  if (table !== null) {
    const { expected } = table;
    return { ...base, expected, usual: null, responses: responsesIn(first.worlds), isFlaky: false };
  }
  const second = await runOnce();
  const { areAlike, ...both } = paidInBoth(first, second);
  return {
    ...base,
    ...both,
    responses: responsesIn([...first.worlds, ...second.worlds]),
    isFlaky: !areAlike,
  };
}

/**
 * Runs the command with the known dialect of its service, and then once with every row. @returns the cells, in the order of the rows
 * @throws UsageError when the command fails without any of the rows, sends nothing, or does not pay what the table says
 */
export async function runMatrix<R extends Row>(parts: MatrixParts<R>): Promise<readonly Cell[]> {
  const { rows, run, again, workers, failOn, onBaseline, onCell, stop } = parts;
  const baseline = await baselineOf(parts);
  if (stop.aborted) return [];
  onBaseline(baseline);
  const { expected, usual, responses } = baseline;
  const limitMs = parts.limitMs ?? baseline.durationMs * TIMES_AS_LONG + LONGER_BY_MS;
  const waiting = [...rows.entries()];
  const cells = new Map<number, Cell>();
  let shown = 0;
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !stop.aborted; next = waiting.shift()) {
      const [index, row] = next;
      const done = await run(row, limitMs);
      if (stop.aborted) return;
      const met = newResponses(done.worlds, responses);
      const verdict = verdictOn(row, done, met, { expected, usual }, failOn);
      const { kind, name, choices } = row;
      const { durationMs } = done;
      cells.set(index, { kind, name, choices, ...verdict, durationMs, met, again: again(row) });
      for (; cells.has(shown); shown += 1) onCell(cells.get(shown)!);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return [...cells.entries()].toSorted(([a], [b]) => a - b).map(([, cell]) => cell);
}
