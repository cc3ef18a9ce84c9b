import type { ScenarioInput } from '../../contract/control.ts';
import { dialectRows, MatrixError } from '../../matrix/dialect-rows.ts';
import type { Row } from '../../matrix/cells.ts';
import { isScenarioFile, nameOf, shippedDialects } from '../../scenario/scenario-file.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Settings } from '../../settings.ts';
import { libraryFor } from '../scenario-files/scenarios.ts';

/** A row with the scenario of its sandbox. */
export interface SandboxRow extends Row {
  readonly scenario: string | ScenarioInput;
}

/** Whether a rule holds requests: they would wait for a release that never comes in a matrix. */
const isHeld = ({ rules }: Scenario): boolean => rules.some(({ effect }) => effect.hold !== null);

function scenarioRows(names: readonly string[], settings: Settings, library: ScenarioLibrary): SandboxRow[] {
  const rowOf = (scenario: string): SandboxRow => ({
    kind: 'scenario',
    name: isScenarioFile(scenario) ? nameOf(scenario) : scenario,
    choices: scenario,
    scenario,
  });
  return names.flatMap((name) => {
    if (name === 'none') return [];
    if (name === 'all') {
      const all = library.names.filter((one) => one !== 'default' && !isHeld(library.get(one)!));
      return all.map(rowOf);
    }
    libraryFor(settings, name); // refuses a scenario that cannot be used
    return [rowOf(name)];
  });
}

/**
 * The rows of a matrix: the scenario of the settings with each dialect, then each scenario.
 *
 * @throws MatrixError, ScenarioError for a name that cannot be used
 */
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
    })),
    ...scenarioRows(scenarios, settings, library),
  ];
  if (rows.length === 0)
    throw new MatrixError('there is nothing to run: --dialects and --scenarios are none');
  return rows;
}
