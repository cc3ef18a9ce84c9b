import { ExplainRequest, type ExplainAnswer, type Verdict } from '../../contract/control/explain-call.ts';
import { InitiateRequest } from '../../contract/service.ts';
import { systemClock } from '../../platform/system-clock.ts';
import { istMinute, timeOfDay } from '../../payout/settlement.ts';
import { readScenario, rulesOf, ScenarioError, scenarioText } from '../../scenario/scenario-file.ts';
import { checkScenario } from '../../scenario/warnings/scenario-check.ts';
import { atOnce } from '../../scenario/scenario-shape.ts';
import { checkedShape, readText } from '../../scenario/scenario-text.ts';
import { scenarioSettings } from '../../scenario/scenario-settings.ts';
import { readSettings, SettingsError, type Settings } from '../../settings.ts';
import { explainRequest } from '../../world/explain.ts';
import { openWorld } from '../../world/state.ts';
import { EXIT_FAILED, EXIT_OK } from '../output.ts';
import { problemsIn, textOfFile } from '../input-files.ts';
import { counted } from '../world/readable.ts';

type Say = (line: string) => void;

/** Without the magic beneficiaries, so that only a file's own rules and outcomes count. */
const withoutMagic = (settings: Settings): Settings => ({ ...settings, magic: 'off' });

const checkingSettings = () => scenarioSettings(withoutMagic(readSettings({}, {})));

/** The report on a scenario that can be used. */
function okLines(file: string, { scenario, warnings }: ReturnType<typeof checkScenario>): readonly string[] {
  const { rules, outcomes } = scenario;
  const ofOutcomes = outcomes.length > 0 ? `, ${counted(outcomes.length, 'outcome')}` : '';
  return [...warnings, `${file}: ok, ${counted(rules.length, 'rule')}${ofOutcomes}`];
}

/**
 * `payout-sandbox validate FILE…`: reports every problem of every file, and anything in it that is never used.
 *
 * @param sayUnreadable reports which files could not be read
 * @returns the exit code: 1 when there is a problem; warnings do not count
 */
export function validate(files: readonly string[], say: Say, sayUnreadable: Say = say): number {
  const settings = checkingSettings();
  let exitCode = EXIT_OK;
  for (const file of files) {
    try {
      okLines(file, checkScenario(scenarioText(file), file, settings)).forEach(say);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      error.lines.forEach(error.problems.length > 0 ? say : sayUnreadable);
      exitCode = EXIT_FAILED;
    }
  }
  return exitCode;
}

/** The same for the text of a scenario. @param file its name in messages @throws ScenarioError with every problem */
export const validateText = (text: string, file: string): string =>
  okLines(file, checkScenario(text, file, checkingSettings())).join('\n');

/** Reads a request to explain; a mapping without a route is the body of an initiate. @throws SettingsError */
function requestIn(file: string): ExplainRequest {
  const text = textOfFile('--explain', file);
  const read = readText(text);
  const { input } = read;
  const isBody = typeof input === 'object' && input !== null && !Array.isArray(input) && !('route' in input);
  const { value: body, problems: ofBody } = checkedShape(read, InitiateRequest);
  if (isBody && body !== null) return { route: 'initiate', body, headers: {} };
  const { value, problems } = checkedShape(read, ExplainRequest);
  if (value !== null) return value;
  const { message } = problemsIn(file, isBody ? ofBody : problems);
  throw new SettingsError(`--explain: ${message.replaceAll('\n', '; ')}`);
}

/** `initiate order-1, attempt 1, 2026-01-15T10:30:00.000Z (16:00 IST)` */
function requestLine({ route, body, query }: ExplainRequest, { attempt, now }: ExplainAnswer): string {
  const reference = body?.client_ref_id ?? query?.client_ref_id ?? query?.txn_id;
  return [
    reference === undefined ? route : `${route} ${reference}`,
    ...(attempt === null ? [] : [`attempt ${attempt}`]),
    `${now} (${timeOfDay(istMinute(Date.parse(now)))} IST)`,
  ].join(', ');
}

/** @param otherwise what applies when none is taken */
function verdictLines(title: string, verdicts: readonly Verdict[], otherwise: string): readonly string[] {
  const names = verdicts.map(({ id }) => id.slice(id.indexOf('/') + 1));
  const width = Math.max(0, ...names.map((name) => name.length));
  const lines = verdicts.map(
    ({ taken, reason }, at) => `  ${taken ? '→' : ' '} ${names[at]!.padEnd(width)}  ${reason}`,
  );
  return [title, ...lines, ...(verdicts.some(({ taken }) => taken) ? [] : [`  → ${otherwise}`])];
}

/** What happens to the payout, in one line. */
function payoutLine({ payout, note }: ExplainAnswer): readonly string[] {
  if (payout === null) return note === null ? [] : [`no payout: ${note}`];
  const steps = payout.timeline.map(({ to, when }) => `${to ?? 'UTR'} ${when}`).join(', ');
  return [`payout: ${steps || 'PENDING for ever'} (planned by ${payout.planned_by})`];
}

/**
 * `payout-sandbox validate FILE --explain REQUEST.json`: says which rule and which outcome the request would take in a new
 * world of the scenario, and why no other.
 *
 * @throws SettingsError, ScenarioError for files that cannot be used
 */
export function explain(file: string, requestFile: string, settings: Settings, say: Say): number {
  const request = requestIn(requestFile);
  const read = () => readScenario(file, scenarioSettings(withoutMagic(settings)));
  const scenario = atOnce(read());
  const compiler = { scenario: () => scenario, prepare: read, rules: rulesOf };
  const world = openWorld('explained', scenario.source, systemClock().nowMs(), compiler);
  const answer = atOnce(explainRequest(world, request, compiler));
  const lines = [
    requestLine(request, answer),
    ...verdictLines('rules', answer.rules, 'none: the normal answer'),
    ...(request.route === 'initiate'
      ? verdictLines('outcomes', answer.outcomes, 'none: the settlement decides')
      : []),
    ...payoutLine(answer),
  ];
  lines.forEach(say);
  return EXIT_OK;
}
