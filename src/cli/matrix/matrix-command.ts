import { z } from 'zod';
import { ExpectedPayout } from '../../contract/conduct.ts';
import { durationMs } from '../../contract/times.ts';
import { baselineOf, cellOf, type Cell, type MatrixRow } from '../../trials/matrix/matrix.ts';
import {
  baselineLines,
  cellLines,
  countLine,
  MATRIX_WRITERS,
  unmetLines,
} from '../../trials/matrix/matrix-reports.ts';
import { inParallel } from '../../trials/run.ts';
import { SettingsError, type Settings } from '../../settings.ts';
import { conductSettings, reportFile, writeReports } from '../referee/conduct-options.ts';
import type { MatrixFlags } from '../commands/test-flags.ts';
import { clientOf, typed } from '../hunt/hunted-command.ts';
import { CLEAR_LINE, EXIT_STOPPED, paintFor, quoted, say, sayJson, searchExitCode } from '../output.ts';
import { clientSettings, givenSettings, REFEREE_DEFAULTS, type SettingFlags } from '../own-server.ts';
import { untilStopped } from '../stop-signal.ts';
import { runInSandbox, sandboxRows, settingsOf, type SandboxRow } from './matrix-sandboxes.ts';

/** The flags with which one cell is run again, next to those of its row. */
const REPEATED = ['intent', 'expect', 'patience', 'limit', 'exitCodes', 'failOn', 'off'] as const;

function rerunText(
  { kind, name }: MatrixRow,
  command: readonly string[],
  flags: MatrixFlags,
  settingFlags: SettingFlags,
): string {
  const rows = { dialects: 'none', scenarios: 'none', [`${kind}s`]: name };
  const failOn = flags.failOn === 'error' ? undefined : flags.failOn;
  const limit = flags.limit === '5m' ? undefined : flags.limit;
  const words = [
    'payout-sandbox',
    'matrix',
    ...typed(settingFlags, Object.keys(settingFlags)),
    ...typed(rows, Object.keys(rows)),
    ...typed({ ...flags, failOn, limit }, REPEATED),
    ...typed(flags, ['env']),
    '--',
    ...command,
  ];
  return words.map(quoted).join(' ');
}

/** `payout-sandbox matrix -- COMMAND`. @returns the exit code: 1 when a cell failed, 2 for a command that fails even without failures */
export async function matrixCommand(
  command: readonly string[],
  flags: MatrixFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const client = clientOf('matrix', command, flags, environment);
  const { failOn, workers, json: isJson } = flags;
  const reports = flags.report.map((text) => reportFile(text, MATRIX_WRITERS));
  const { expect: table, ...conduct } = conductSettings(flags);
  const expect =
    table === undefined
      ? null
      : { name: `--expect ${flags.expect}`, payouts: z.array(ExpectedPayout).parse(table) };
  const limitMs = durationMs(flags.limit);
  if (!limitMs) throw new SettingsError(`--limit must be a duration such as 30s or 5m, not ${flags.limit}`);
  const usual = { settlement: 'instant', ...REFEREE_DEFAULTS };
  const settings = clientSettings(usual, settingFlags, environment, true);
  const joined = { fixed: givenSettings(settingFlags, environment), said: new Set<string>() };
  const rows = sandboxRows(flags.dialects, flags.scenarios, settings);
  const isTerminal = process.stdout.isTTY && !isJson;
  const show = (lines: readonly string[], progress = ''): void => {
    if (isTerminal) process.stdout.write(CLEAR_LINE);
    if (!isJson) lines.forEach(say);
    if (isTerminal) process.stdout.write(progress);
  };
  return untilStopped(async (stop) => {
    const run = (rowSettings: Settings) => runInSandbox(rowSettings, conduct, client, limitMs, stop, joined);
    const baseline = await baselineOf(() => run(settings), expect).catch((error: unknown) => {
      if (!stop.aborted) throw error;
    });
    if (baseline === undefined) return EXIT_STOPPED;
    show([...baselineLines(baseline), '']);
    const found: Cell[] = [];
    let shown = 0;
    const work = async ([index, row]: readonly [number, SandboxRow]): Promise<void> => {
      const done = await run(settingsOf(row, settings, baseline.payouts));
      if (stop.aborted) return;
      found[index] = cellOf(row, done, baseline, failOn, rerunText(row, command, flags, settingFlags));
      for (; found[shown] !== undefined; shown += 1) {
        show(cellLines(found[shown]!, rows, paintFor(environment)), `${shown + 1} of ${rows.length} cells`);
      }
    };
    await inParallel([...rows.entries()], workers, () => !stop.aborted, work);
    const cells = found.filter((cell) => cell !== undefined);
    const left = rows.length - cells.length;
    if (isJson) sayJson({ cells });
    const stopped = left > 0 ? `; stopped before the other ${left}` : '';
    show(['', countLine(cells) + stopped, ...unmetLines(cells)]);
    const areWritten = writeReports(reports, (write) => write(cells), environment);
    const hasFailed = cells.some(({ failed }) => failed);
    return searchExitCode(hasFailed, stop.aborted, areWritten);
  });
}
