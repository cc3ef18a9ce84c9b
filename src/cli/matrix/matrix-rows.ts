import type { ScenarioInput } from '../../contract/control.ts';
import { instantMs } from '../../contract/instant.ts';
import { SWITCHES, type Dialect } from '../../contract/dialect.ts';
import { UsageError } from '../../contract/usage-error.ts';
import { istMinute } from '../../payout/settlement.ts';
import { dialectRows } from '../../trials/matrix/dialect-rows.ts';
import type { Row } from '../../trials/matrix/cells.ts';
import { hoursTest } from '../../scenario/rule-compiler.ts';
import { isScenarioFile, nameOf, shippedDialects } from '../../scenario/scenario-file.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Settings } from '../../settings.ts';
import { libraryFor } from '../scenario-files/scenarios.ts';

export interface SandboxRow extends Row {
  readonly scenario: string | ScenarioInput;
  /** The time at which its sandbox begins, ms since the epoch. */
  readonly startMs: number;
}

/** Every run begins then, unless its scenario is about other hours. */
export const START_MS = instantMs('2026-01-15T10:30')!;

/** A scenario that has hours of its own begins in them: otherwise nothing of it would be met. */
function startOf({ outcomes, rules }: Scenario): number {
  const all = [...outcomes, ...rules].flatMap(({ match }) => match.hours ?? []);
  const others = all.find((hours) => !hoursTest(hours)(START_MS));
  return others === undefined ? START_MS : START_MS + (others.from - istMinute(START_MS)) * 60_000;
}

/** Whether a rule holds requests: they would wait for a release that never comes in a matrix. */
const isHeld = ({ rules }: Scenario): boolean => rules.some(({ effect }) => effect.hold !== null);

/** The preset for hidden resends: whatever sends a request again by itself meets every way in which a service treats a repeated reference. */
const RESENDS = 'hidden-resends';
const REPEATED = 'client_ref_id.same_body';

/** The first response to each reference is lost after its payout, for each choice that a service has for a repeated reference. */
function resendRows(document: ScenarioInput, base: Dialect, only: string | undefined): SandboxRow[] {
  const lost = {
    name: 'lost',
    match: { route: 'initiate' as const, attempt: 1 },
    effect: { commit: true, fault: 'connection-reset' as const },
  };
  const rows = SWITCHES.get(REPEATED)!.map((value): SandboxRow => {
    const same_body = value as Dialect['client_ref_id']['same_body'];
    const dialect = { ...base, client_ref_id: { ...base.client_ref_id, same_body } };
    const scenario = { ...document, dialect, rules: [lost, ...(document.rules ?? [])] };
    const name = `${RESENDS}/${value}`;
    return { kind: 'scenario', name, choices: name, scenario, startMs: START_MS };
  });
  const chosen = only === undefined ? rows : rows.filter(({ name }) => name === only);
  if (chosen.length > 0) return chosen;
  throw new UsageError(
    `--scenarios: there is no ${only}: use one of ${rows.map(({ name }) => name).join(', ')}`,
  );
}

function scenarioRows(names: readonly string[], settings: Settings, library: ScenarioLibrary): SandboxRow[] {
  const { dialect, source } = library.active;
  const rowOf = (scenario: string, found = library.get(scenario)!): SandboxRow => ({
    kind: 'scenario',
    name: isScenarioFile(scenario) ? nameOf(scenario) : scenario,
    choices: scenario,
    scenario,
    startMs: startOf(found),
  });
  const rows = names.flatMap((name) => {
    if (name === 'none') return [];
    if (name === RESENDS || name.startsWith(`${RESENDS}/`)) {
      return resendRows(source.document as ScenarioInput, dialect, name === RESENDS ? undefined : name);
    }
    if (name === 'all') {
      const all = library.names.filter((one) => one !== 'default' && !isHeld(library.get(one)!));
      return all.map((one) => rowOf(one));
    }
    return [rowOf(name, libraryFor(settings, name).active)]; // refuses a scenario that cannot be used
  });
  return [...new Map(rows.map((row) => [row.choices, row])).values()];
}

/** The rows of a matrix: the scenario of the settings with each dialect, then each scenario. */
export function sandboxRows(
  dialects: readonly string[],
  scenarios: readonly string[],
  settings: Settings,
): readonly SandboxRow[] {
  const library = libraryFor(settings, settings.scenario);
  const { dialect: base, source } = library.active;
  const document = source.document as ScenarioInput;
  const dialectSource = { base, presets: shippedDialects(), seed: settings.seed };
  const rows = [
    ...dialectRows(dialects, dialectSource).map(({ name, choices, dialect }): SandboxRow => ({
      kind: 'dialect',
      name,
      choices,
      scenario: { ...document, dialect },
      startMs: START_MS,
    })),
    ...scenarioRows(scenarios, settings, library),
  ];
  if (rows.length === 0) throw new UsageError('there is nothing to run: --dialects and --scenarios are none');
  return rows;
}
