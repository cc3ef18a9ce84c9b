import { z } from 'zod';
import { ExpectedPayout } from '../../contract/conduct.ts';
import { durationMs } from '../../contract/duration.ts';
import { hasFailed, type Cell, type Row } from '../../trials/matrix/cells.ts';
import { runMatrix } from '../../trials/matrix/matrix.ts';
import {
  baselineLines,
  cellLines,
  countLine,
  MATRIX_WRITERS,
  suspectLines,
} from '../../trials/matrix/matrix-reports.ts';
import { SettingsError } from '../../settings.ts';
import {
  conductSettings,
  reportFile,
  tableName,
  writeReports,
  type ConductFlags,
} from '../referee/conduct-options.ts';
import { clientOf, typed, type ClientFlags } from '../hunt/hunted-command.ts';
import {
  CLEAR_LINE,
  complain,
  EXIT_FAILED,
  EXIT_OK,
  EXIT_STOPPED,
  EXIT_USAGE,
  paintFor,
  quoted,
  say,
  sayJson,
} from '../output.ts';
import {
  givenSettings,
  clientSettings,
  LONG_JOURNAL,
  usualWorkers,
  type SettingFlags,
} from '../own-server.ts';
import { untilStopped } from '../stop-signal.ts';
import { sandboxRows, START_MS } from './matrix-rows.ts';
import { runOnce } from './matrix-run.ts';

interface MatrixFlags extends ClientFlags, Omit<ConductFlags, 'require'> {
  readonly dialects: string;
  readonly scenarios: string;
  readonly workers?: string;
  readonly limit?: string;
  readonly requireExercised?: true;
}

function namesIn(flag: string, list: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  if (names.includes(''))
    throw new SettingsError(`${flag} is empty, or has an empty name between two commas`);
  return names;
}

function workersOf(text: string | undefined): number {
  if (text === undefined) return usualWorkers();
  if (/^[1-9]\d?$/.test(text) && Number(text) <= 64) return Number(text);
  throw new SettingsError(`--workers must be a whole number from 1 to 64, not ${text}`);
}

function limitOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = durationMs(text);
  if (ms) return ms;
  throw new SettingsError(`--limit must be a duration such as 30s or 5m, not ${text}`);
}

/** The flags with which one cell is run again, next to those of its row. */
const REPEATED = ['intent', 'expect', 'settings', 'patience', 'limit', 'exitCodes', 'failOn', 'off'] as const;

function rerunWords(
  { kind, choices }: Row,
  command: readonly string[],
  flags: MatrixFlags,
  settingFlags: SettingFlags,
): string {
  const row = { dialects: 'none', scenarios: 'none', [`${kind}s`]: choices };
  const failOn = flags.failOn === 'error' ? undefined : flags.failOn;
  const settings = Object.keys(settingFlags).filter((name) => name !== 'scenarios');
  return [
    'payout-sandbox',
    ...typed(settingFlags, ['scenarios']), // the setting, which has the same name as the flag
    'matrix',
    ...typed(row, ['dialects', 'scenarios']),
    ...typed({ ...flags, failOn }, REPEATED),
    ...typed(settingFlags, settings),
    ...typed(flags, ['env']),
    '--',
    ...command,
  ]
    .map(quoted)
    .join(' ');
}

/** Shows cells as they come, and on a terminal how many are left; as JSON, all of them in the end. */
function display(rows: readonly Row[], environment: NodeJS.ProcessEnv, isJson: boolean) {
  const isTerminal = process.stdout.isTTY && !isJson;
  let shown = 0;
  const progress = (): void => {
    if (isTerminal) process.stdout.write(`${shown} of ${rows.length} cells`);
  };
  const show = (lines: readonly string[]): void => {
    if (isJson) return;
    if (isTerminal) process.stdout.write(CLEAR_LINE);
    for (const line of lines) say(line);
  };
  return {
    note(lines: readonly string[]): void {
      show(lines);
      progress();
    },
    cell(cell: Cell): void {
      const isFirst = rows.find(({ kind }) => kind === cell.kind)?.name === cell.name;
      shown += 1;
      show([...(isFirst ? ['', `${cell.kind}s`] : []), ...cellLines(cell, rows, paintFor(environment))]);
      progress();
    },
    end(lines: readonly string[], cells: readonly Cell[]): void {
      if (isJson) sayJson({ cells });
      else show(['', ...lines]);
    },
  };
}

/** `payout-sandbox matrix -- COMMAND`. @returns the exit code: 1 when a cell failed, 2 for a command that fails even without failures */
export async function matrixCommand(
  command: readonly string[],
  flags: MatrixFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const client = clientOf('matrix', command, flags, environment);
  const reports = flags.report.map((text) => reportFile(text, MATRIX_WRITERS));
  const { expect, ...others } = conductSettings(flags);
  const workers = workersOf(flags.workers);
  const limitMs = limitOf(flags.limit);
  const usual = { settlement: 'instant', ...LONG_JOURNAL };
  const settings = clientSettings(usual, settingFlags, environment, true);
  const joined = { fixed: givenSettings(settingFlags, environment), said: new Set<string>() };
  return untilStopped(async (stop) => {
    try {
      const rows = sandboxRows(
        namesIn('--dialects', flags.dialects),
        namesIn('--scenarios', flags.scenarios),
        settings,
      );
      const shown = display(rows, environment, flags.json === true);
      const cells = await runMatrix({
        rows,
        workers,
        failOn: flags.failOn,
        limitMs,
        expect:
          expect === undefined
            ? null
            : { name: tableName(flags), payouts: z.array(ExpectedPayout).parse(expect) },
        stop,
        run: (row, limit) => {
          const ofRow = row === null ? settings : { ...settings, scenario: row.scenario };
          return runOnce(ofRow, others, client, limit, stop, joined, row?.startMs ?? START_MS);
        },
        again: (row) => rerunWords(row, command, flags, settingFlags),
        onBaseline: (baseline) => shown.note(baselineLines(baseline)),
        onCell: (cell) => shown.cell(cell),
      });
      const left = stop.aborted ? `; stopped before the other ${rows.length - cells.length}` : '';
      shown.end([...suspectLines(cells), countLine(cells) + left], cells);
      const areWritten = writeReports(reports, (write) => write(cells), environment);
      const missed = cells.filter(({ verdict }) => verdict === 'not exercised').map(({ name }) => name);
      if (flags.requireExercised && missed.length > 0) {
        complain(`not exercised: ${missed.join(', ')}: no response showed what it changes`);
        return EXIT_FAILED;
      }
      if (cells.some(hasFailed)) return EXIT_FAILED;
      if (stop.aborted) return EXIT_STOPPED;
      return areWritten ? EXIT_OK : EXIT_USAGE;
    } catch (error) {
      if (stop.aborted) {
        complain('stopped before the first cell');
        return EXIT_STOPPED;
      }
      throw error;
    }
  });
}
