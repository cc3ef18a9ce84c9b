import type { Texts } from '../../actions/sandbox-action.ts';
import { explanationLines } from '../../actions/explanation-words.ts';
import { problemsIn } from '../../actions/written-documents.ts';
import { counted, jsonText, timeZone, visibleLine } from '../../actions/words.ts';
import { ExplainRequest } from '../../contract/control/explain-call.ts';
import { InitiateRequest } from '../../contract/service.ts';
import { reported } from '../../contract/shape-issues.ts';
import type { ScenarioSettings } from '../../contract/snapshot-lines.ts';
import { systemClock } from '../../platform/system-clock.ts';
import {
  checkScenario,
  rulesOf,
  ScenarioError,
  scenarioOf,
  scenarioText,
} from '../../scenario/scenario-file.ts';
import { checkedShape, readText, type Problem } from '../../scenario/scenario-text.ts';
import { scenarioSettings } from '../../scenario/scenario-library.ts';
import { readSettings, SettingsError, type Settings } from '../../settings.ts';
import { explainRequest } from '../../world/explain.ts';
import { openWorld } from '../../world/state.ts';
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE } from '../output.ts';
import { textOfFile } from '../named-files.ts';

type Say = (line: string) => void;
type Named = ReturnType<Texts['read']>;

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

/** A file that is not JSON at all has a problem in almost every line. */
const MOST_PROBLEMS = 3;

/** Reads a request to explain; a mapping without a route is the body of an initiate. */
function requestIn(calledBy: string, { name, text }: Named): ExplainRequest {
  const read = readText(text);
  const { input } = read;
  const isBody = typeof input === 'object' && input !== null && !Array.isArray(input) && !('route' in input);
  const { value: body, problems: ofBody } = checkedShape(read, InitiateRequest);
  if (isBody && body !== null) return { route: 'initiate', body, headers: {} };
  const { value, problems } = checkedShape(read, ExplainRequest);
  if (value !== null) return value;
  const { message } = problemsIn(name, isBody ? ofBody : problems);
  throw new SettingsError(`${calledBy}: ${message.split('\n', MOST_PROBLEMS).join('; ')}`);
}

/** Which rule and outcome a request would match, in lines, in a new world of a scenario. @param calledBy the argument that has the request */
export function explainedIn(
  scenarioText: Named,
  calledBy: string,
  requestText: Named,
  settings: Settings,
): readonly string[] {
  const request = requestIn(calledBy, requestText);
  const { name, text } = scenarioText;
  const scenario = scenarioOf(readText(text), name, scenarioSettings(settings));
  const compiler = { scenario: () => scenario, rules: rulesOf };
  const world = openWorld('explained', scenario.source, systemClock().nowMs(), compiler);
  const explanation = explainRequest(world, request, compiler);
  const { route, body, query } = request;
  const reference = body?.client_ref_id ?? query?.client_ref_id ?? query?.txn_id;
  return explanationLines({ route, reference }, explanation, timeZone());
}

/** `payout-sandbox validate FILE --explain REQUEST.json` */
export function explain(file: string, requestFile: string, settings: Settings, say: Say): number {
  const request = { name: requestFile, text: textOfFile('--explain', requestFile) };
  const lines = explainedIn({ name: file, text: scenarioText(file) }, '--explain', request, settings);
  lines.forEach((line) => say(visibleLine(line)));
  return EXIT_OK;
}
