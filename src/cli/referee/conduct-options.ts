import { intentOf } from '../../actions/journal-actions.ts';
import { expectedIn } from '../../actions/written-documents.ts';
import {
  CHECK_IDS,
  type CheckId,
  type ConductReports,
  type RefereeSettingsInput,
} from '../../contract/conduct.ts';
import { suggestion } from '../../contract/suggestion.ts';
import { CheckedSettings } from '../../referee/intents.ts';
import { junitXml } from '../../referee/reports/junit.ts';
import {
  hasFailed,
  plain,
  type FailOn,
  type Failure,
  type RunReports,
} from '../../referee/reports/summary.ts';
import { markdownText, terminalText } from '../../referee/reports/terminal.ts';
import { SettingsError } from '../../settings.ts';
import type { RefereeFlags } from '../commands/test-flags.ts';
import { complain, EXIT_FAILED, EXIT_OK, EXIT_USAGE, paintFor, say, sayJson } from '../output.ts';
import { checkWritable, textOfFile, tryWrite } from '../named-files.ts';

type Writer = (reports: RunReports, failOn: FailOn) => string;

/** @param isVerbose whether text and JUnit have each check */
const writers = (isVerbose: boolean): Readonly<Record<string, Writer>> => ({
  junit: (reports, failOn) => junitXml(reports, failOn, isVerbose),
  markdown: markdownText,
  json: (reports) => `${JSON.stringify(reports, null, 2)}\n`,
  text: (reports) =>
    [...(reports.failure?.reasons ?? []), terminalText(reports, plain, isVerbose)].join('\n'),
});

function checkOf(flag: string, name: string): CheckId {
  const known = CHECK_IDS.find((id) => id === name);
  if (known !== undefined) return known;
  throw new SettingsError(`${flag}: there is no check ${name}${suggestion(name, CHECK_IDS)}`);
}

/** `never-asked=a nightly job asks` */
function offOf(text: string): readonly [CheckId, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) {
    throw new SettingsError(`--off must be CHECK=REASON, not ${JSON.stringify(text)}`);
  }
  return [checkOf('--off', text.slice(0, at)), text.slice(at + 1)];
}

/** A report to write to a file. */
export interface ReportFile<W> {
  readonly write: W;
  readonly file: string;
}

/** `junit=referee.xml` */
export function reportFile<W>(text: string, writers: Readonly<Record<string, W>>): ReportFile<W> {
  const [format = '', ...rest] = text.split('=');
  const file = rest.join('=');
  const write = Object.hasOwn(writers, format) ? writers[format] : undefined;
  if (write === undefined) {
    throw new SettingsError(`--report must be one of ${Object.keys(writers).join(', ')}, not ${format}`);
  }
  if (file === '') throw new SettingsError(`--report ${format} needs a file: --report ${format}=FILE`);
  checkWritable('--report', file);
  return { write, file };
}

/** A report that cannot be written does not keep others from it. @returns whether all were written */
export function writeReports<W>(
  reports: readonly ReportFile<W>[],
  textOf: (write: W) => string,
  environment: NodeJS.ProcessEnv,
): boolean {
  const isWritten = reports.map(({ write, file }) => {
    // the summary of a job has other writers too
    const how = file === environment['GITHUB_STEP_SUMMARY'] ? 'a' : 'w';
    return tryWrite('--report', file, textOf(write), how);
  });
  return !isWritten.includes(false);
}

type SettingsFlags = Partial<Pick<RefereeFlags, 'intent' | 'expect' | 'patience' | 'off'>>;

/** The settings of the referee, from flags. */
export function conductSettings(flags: SettingsFlags): RefereeSettingsInput {
  const { intent, expect, patience, off = [] } = flags;
  const given = {
    ...(intent !== undefined && { intent: intentOf(intent, '--intent') }),
    ...(expect !== undefined && {
      expect: expectedIn({ name: expect, text: textOfFile('--expect', expect) }),
    }),
    ...(off.length > 0 && { off: Object.fromEntries(off.map(offOf)) }),
    ...(patience !== undefined && { limits: { patience } }),
  };
  const checked = CheckedSettings.safeParse(given);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0]!;
    throw new SettingsError(`--${String(path.at(-1))} ${message}`);
  }
  return given;
}

export function conductOptions(flags: RefereeFlags) {
  const { failOn, verbose: isVerbose, json: isJson } = flags;
  return {
    settings: conductSettings(flags),
    failOn,
    required: flags.require.flatMap((names) => names.split(',')).map((name) => checkOf('--require', name)),
    reports: flags.report.map((text) => reportFile(text, writers(isVerbose))),
    isVerbose,
    isJson,
  };
}

/**
 * @param ended why the command failed, or cannot be judged; null if neither
 * @returns the exit code: 1 for findings that count, missing requests, and a required check that has not judged the client; otherwise 2 for a
 *   report that could not be written
 */
export function publish(
  found: ConductReports,
  { failOn, required, reports: files, isVerbose, isJson }: ReturnType<typeof conductOptions>,
  environment: NodeJS.ProcessEnv,
  ended: Failure | null,
): number {
  const untested = required.flatMap((id) => whyUntested(found, id) ?? []);
  const reasons = [...untested, ...(ended?.reasons ?? [])];
  const hasFindings = hasFailed(found, failOn);
  const title = (hasFindings ? undefined : ended?.title) ?? 'failed';
  const hasProblems = reasons.length > 0 || (hasFindings && found.result === 'passed');
  const result = hasProblems ? 'failed' : found.result;
  const reports: RunReports = {
    ...found,
    passed: result === 'passed',
    result,
    ...(reasons.length > 0 && { failure: { title, reasons } }),
  };
  if (isJson) sayJson(reports);
  else say(terminalText(reports, paintFor(environment), isVerbose).trimEnd());
  const areWritten = writeReports(files, (write) => write(reports, failOn), environment);
  complain(...reasons);
  if (hasFindings || untested.length > 0) return EXIT_FAILED;
  return areWritten ? EXIT_OK : EXIT_USAGE;
}

/** Why a required check has not judged the client in any world; null when it has. */
function whyUntested({ worlds }: ConductReports, id: CheckId): string | null {
  const checks = worlds.flatMap((world) => world.checks.filter((check) => check.id === id));
  if (checks.some(({ verdict }) => verdict === 'passed' || verdict === 'found')) return null;
  const withReason = checks.find(({ reason }) => reason !== null);
  return withReason === undefined
    ? `${id} is required, and was not exercised in any world: no request of the client tested it`
    : `${id} is required, and is ${withReason.verdict}: ${withReason.reason}`;
}
