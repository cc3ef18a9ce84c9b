import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { RefereeSettingsInput } from '../../contract/conduct.ts';
import { CheckedSettings } from '../../referee/intents.ts';
import { checkedShape, readText } from '../../scenario/scenario-text.ts';
import { SettingsError } from '../../settings.ts';
import { problemsIn } from '../../actions/written-documents.ts';
import { textOfFile } from '../named-files.ts';

/** The file in which a project keeps its settings of the referee. */

const ProjectSettings = z.strictObject({
  conduct: CheckedSettings.describe('The settings of the referee, as on the command line'),
});

/** File names to look for in the working folder. */
const FILES = ['payout-sandbox.config.yaml', 'payout-sandbox.config.yml', 'payout-sandbox.config.json'];

/** The file in the working folder; undefined for none. */
function fileHere(): string | undefined {
  const [file, other] = FILES.filter((name) => existsSync(name));
  if (other === undefined) return file;
  throw new SettingsError(`there are both ${file} and ${other}: keep one, or name one with --settings`);
}

/**
 * The settings of the referee in a project's file.
 *
 * @param named the file; undefined for the one in the working folder, if there is one
 */
export function projectSettings(named: string | undefined): RefereeSettingsInput {
  const file = named ?? fileHere();
  if (file === undefined) return {};
  const read = readText(textOfFile('--settings', file));
  const { problems } = checkedShape(read, ProjectSettings);
  if (problems.length === 0) return (read.input as z.input<typeof ProjectSettings>).conduct;
  throw problemsIn(file, problems);
}
