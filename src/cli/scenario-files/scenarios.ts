import { jsonText, oneLine } from '../../actions/text-output.ts';
import { ScenarioLibrary, scenarioSettings } from '../../scenario/scenario-library.ts';
import type { Settings } from '../../settings.ts';
import { paintFor, say } from '../output.ts';

export const libraryFor = (settings: Settings, active?: Settings['scenario']): ScenarioLibrary =>
  new ScenarioLibrary({
    settings: scenarioSettings(settings),
    active,
    folder: settings.scenarios,
    reloaded: () => undefined,
    refused: () => undefined,
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
