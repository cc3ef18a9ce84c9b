import { jsonText, oneLine, visibleLine } from '../actions/text-output.ts';
import { reported } from '../contract/shape-issues.ts';
import type { ScenarioSettings } from '../contract/snapshot.ts';
import { counted } from '../contract/words.ts';
import { checkScenario, ScenarioError, scenarioText } from '../scenario/scenario-file.ts';
import { ScenarioLibrary, scenarioSettings } from '../scenario/scenario-library.ts';
import { readText, type Problem } from '../scenario/scenario-text.ts';
import { readSettings, type Settings } from '../settings.ts';
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE, paintFor, say } from './output.ts';

export const libraryFor = (settings: Settings, active?: Settings['scenario']): ScenarioLibrary =>
  new ScenarioLibrary({
    settings: scenarioSettings(settings),
    active,
    folder: settings.scenarios,
  });

/** `payout-sandbox scenarios`: each scenario with its description, in columns on a terminal, otherwise separated by a tab. */
export function listScenarios(settings: Settings, environment: NodeJS.ProcessEnv, isJson: boolean): void {
  const paint = paintFor(environment);
  const library = libraryFor(settings);
  if (isJson) {
    return say(jsonText([...library.all()].map(({ name, description }) => ({ name, description }))));
  }
  const width = Math.max(...library.names.map((name) => name.length));
  for (const { name, description } of library.all()) {
    const gap = process.stdout.isTTY ? ' '.repeat(width - name.length + 2) : '\t';
    say(`${paint(name, 'bold')}${gap}${oneLine(description)}`);
  }
}

type Say = (line: string) => void;

/** Without the magic beneficiaries, so that only a file's own rules and outcomes count. */
const checkingSettings = () => scenarioSettings({ ...readSettings({}, {}), magic: 'off' });

type Checked = ReturnType<typeof checkScenario>;

function okLines(file: string, { document, warnings }: Checked): readonly string[] {
  const { rules = [], outcomes = [] } = document;
  const { shown, more } = reported(warnings);
  const ofOutcomes = outcomes.length > 0 ? `, ${counted(outcomes.length, 'outcome')}` : '';
  return [
    ...shown.map(({ place, path, message }) => `${file}:${place!.line}: warning: ${path} ${message}`),
    ...(more > 0 ? [`${file}: and ${more} more warnings`] : []),
    `${file}: ok, ${counted(rules.length, 'rule')}${ofOutcomes}`,
  ];
}

const problemJson = ({ place, path, message }: Problem) => ({
  line: place?.line ?? null,
  column: place?.column ?? null,
  path,
  message,
});

/** The text of a scenario: its lines for people, the same as JSON, and whether it can be used. */
export function textReport(file: string, text: string, settings: ScenarioSettings = checkingSettings()) {
  try {
    const checked = checkScenario(readText(text), file, settings);
    const json = { file, problems: [], more: 0, warnings: checked.warnings.map(problemJson) };
    return { lines: okLines(file, checked), json, isUsable: true };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const { lines, problems, more } = error;
    const json = { file, problems: problems.map(problemJson), more, warnings: [] };
    return { lines, json, isUsable: false };
  }
}

/** `payout-sandbox validate FILE…`. @returns the exit code: 1 when there is a problem, 2 when a file cannot be read; warnings do not count */
export function validate(files: readonly string[], say: Say, sayUnreadable = say, isJson = false): number {
  const settings = checkingSettings();
  const reports: ReturnType<typeof textReport>[] = [];
  let exitCode: number = EXIT_OK;
  for (const file of files) {
    try {
      const report = textReport(file, scenarioText(file), settings);
      reports.push(report);
      if (!isJson) report.lines.forEach((line) => say(visibleLine(line)));
      if (!report.isUsable) exitCode = Math.max(exitCode, EXIT_FAILED);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      error.lines.forEach((line) => sayUnreadable(visibleLine(line)));
      exitCode = EXIT_USAGE;
    }
  }
  if (isJson) say(jsonText(reports.map(({ json }) => json)));
  return exitCode;
}
