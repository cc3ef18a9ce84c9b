import { readFileSync } from 'node:fs';
import { reported } from '../contract/shape-issues.ts';
import { unreadable } from '../scenario/scenario-file.ts';
import { problemText, type Problem } from '../scenario/scenario-text.ts';
import { SettingsError } from '../settings.ts';

/** Files that commands read, with the same error messages for every command. */

/** Stands for standard input instead of a file. */
const STANDARD_INPUT = '-';

/** @param calledBy the flag or the command that takes the file @throws SettingsError when it cannot be read */
export function textOfFile(calledBy: string, file: string): string {
  try {
    return readFileSync(file === STANDARD_INPUT ? 0 : file, 'utf8');
  } catch (error) {
    throw new SettingsError(`${calledBy}: ${unreadable(file, error)}`, { cause: error });
  }
}

/** The error for a file whose content cannot be used. */
export const unusableFile = (calledBy: string, file: string, cause: Error): SettingsError =>
  new SettingsError(`${calledBy}: ${file} cannot be used: ${cause.message}`, { cause });

/** The error for a file with problems: a line for each. */
export function problemsIn(file: string, problems: readonly Problem[]): SettingsError {
  const { shown, more } = reported(problems);
  const name = file === STANDARD_INPUT ? 'standard input' : file;
  const lines = shown.map((problem) => problemText(name, problem));
  return new SettingsError([...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
}
