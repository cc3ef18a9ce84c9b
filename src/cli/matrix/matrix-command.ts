import { z } from 'zod';
import { ExpectedPayout } from '../../contract/conduct.ts';
import { durationMs } from '../../contract/duration.ts';
import { hasFailed, type Cell, type Row } from '../../trials/matrix/cells.ts';
import { MatrixError } from '../../trials/matrix/dialect-rows.ts';
import { runMatrix } from '../../trials/matrix/matrix.ts';
import { matrixJson, matrixJunit, matrixMarkdown } from '../../trials/matrix/matrix-reports.ts';
import { baselineLines, cellLines, countLine, suspectLines } from '../../trials/matrix/table.ts';
import { SETTINGS, SettingsError } from '../../settings.ts';
import {
  conductOptions,
  reportOf,
  tableName,
  writeReport,
  type ConductFlags,
} from '../referee/conduct-options.ts';
import { clientCommand } from '../client-command.ts';
import { exitCodesOf } from '../hunt/exit-codes.ts';
import { huntedCommand } from '../hunt/hunted-command.ts';
import {
  CLEAR_LINE,
  complain,
  EXIT_FAILED,
  EXIT_OK,
  EXIT_STOPPED,
  isColoured,
  quoted,
  say,
  sayJson,
} from '../output.ts';
import {
  givenSettings,
  isolatedSettings,
  LONG_JOURNAL,
  usualWorkers,
  type SettingFlags,
} from '../own-server.ts';
import { untilStopped } from '../stop-signal.ts';
import { sandboxRows, START_MS } from './matrix-rows.ts';
import { runOnce } from './matrix-run.ts';

export interface MatrixFlags extends Omit<ConductFlags, 'require'> {
  /** NAME=VALUE, in which {url} and {key} are filled in. */
  readonly env: readonly string[];
  readonly dialects: string;
  readonly scenarios: string;
  readonly workers?: string;
  readonly limit?: string;
  readonly exitCodes?: string;
  readonly requireExercised?: true;
}

const WRITERS = { markdown: matrixMarkdown, junit: matrixJunit, json: matrixJson };

const namesIn = (list: string): readonly string[] => list.split(',').map((name) => name.trim());

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

/** The command that runs one cell again, as its words. */
function rerunWords(
  { kind, choices }: Row,
  command: readonly string[],
  flags: MatrixFlags,
  settingFlags: SettingFlags,
): string {
  const given = (flag: string, value: string | undefined): readonly string[] =>
    value === undefined ? [] : [flag, value];
  const named = (of: Row['kind']): string => (kind === of ? choices : 'none');
  return [
    'payout-sandbox',
    ...given('--scenarios', settingFlags.scenarios), // the setting, which has the same name
    'matrix',
    '--dialects',
    named('dialect'),
    '--scenarios',
    named('scenario'),
    ...given('--intent', flags.intent),
    ...given('--expect', flags.expect),
    ...given('--settings', flags.settings),
    ...given('--patience', flags.patience),
    ...given('--limit', flags.limit),
    ...given('--exit-codes', flags.exitCodes),
    ...given('--fail-on', flags.failOn === 'error' ? undefined : flags.failOn),
    ...flags.off.flatMap((off) => ['--off', off]),
    ...SETTINGS.flatMap(({ name, flag }) => (name === 'scenarios' ? [] : given(flag, settingFlags[name]))),
    ...flags.env.flatMap((text) => ['--env', text]),
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
      show([...(isFirst ? ['', `${cell.kind}s`] : []), ...cellLines(cell, rows, isColoured(environment))]);
      progress();
    },
    end(lines: readonly string[], cells: readonly Cell[]): void {
      if (isJson) sayJson({ cells });
      else show(['', ...lines]);
    },
  };
}

/**
 * `payout-sandbox matrix -- COMMAND`: runs a command once with every dialect and once with every scenario, each with a
 * sandbox of its own.
 *
 * @param settingFlags the flags of the sandbox's own settings
 * @returns the exit code: 1 when a cell failed, 2 for input that cannot be used, including a command that fails even without failures
 */
export async function matrixCommand(
  command: readonly string[],
  flags: MatrixFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  if (command.length === 0) {
    throw new SettingsError(
      'matrix needs a command: payout-sandbox matrix --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- npm test',
    );
  }
  const reports = flags.report.map((text) => reportOf(text, WRITERS));
  const { settings: conduct, failOn } = conductOptions({ ...flags, report: [], require: [] });
  const { expect, ...others } = conduct;
  const workers = workersOf(flags.workers);
  const limitMs = limitOf(flags.limit);
  const settings = isolatedSettings({ settlement: 'instant', ...LONG_JOURNAL }, settingFlags, environment);
  const client = huntedCommand(clientCommand(command, flags.env, environment), exitCodesOf(flags.exitCodes));
  const joined = { fixed: givenSettings(settingFlags, environment), said: new Set<string>() };
  return untilStopped(async (stop) => {
    try {
      const rows = sandboxRows(namesIn(flags.dialects), namesIn(flags.scenarios), settings);
      const shown = display(rows, environment, flags.json === true);
      const cells = await runMatrix({
        rows,
        workers,
        failOn,
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
      for (const { write, file } of reports) writeReport(write(cells), file, environment);
      const missed = cells.filter(({ verdict }) => verdict === 'not exercised').map(({ name }) => name);
      if (flags.requireExercised && missed.length > 0) {
        complain(`not exercised: ${missed.join(', ')}: the client saw nothing of it`);
        return EXIT_FAILED;
      }
      if (cells.some(hasFailed)) return EXIT_FAILED;
      return stop.aborted ? EXIT_STOPPED : EXIT_OK;
    } catch (error) {
      if (stop.aborted) {
        complain('stopped before the first cell');
        return EXIT_STOPPED;
      }
      if (error instanceof MatrixError) return complain(error.message);
      throw error;
    }
  });
}
