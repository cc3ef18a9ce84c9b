import { readFileSync } from 'node:fs';
import { unreadable } from '../scenario/scenario-file.ts';
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
