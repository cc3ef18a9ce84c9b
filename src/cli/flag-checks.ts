import { accessSync, appendFileSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SETTINGS, SettingsError } from '../settings.ts';

/** Flags that several commands share: addresses, and files to write. */

const refusal = (flag: string, file: string, error: unknown): SettingsError =>
  new SettingsError(`${flag}: ${file} cannot be written (${(error as NodeJS.ErrnoException).code})`, {
    cause: error,
  });

/**
 * Checks before a command begins that what it finds can be kept, without making the file.
 *
 * @throws SettingsError for a file that cannot be written
 */
export function checkWritable(flag: string, file: string): void {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    // the dot makes sure that what holds the file is a folder
    accessSync(found === undefined ? `${dirname(file)}/.` : file, constants.W_OK);
  } catch (error) {
    throw refusal(flag, file, error);
  }
}

/** @throws SettingsError for a file that cannot be written */
export function writeText(flag: string, file: string, text: string, { append = false } = {}): void {
  try {
    if (append) appendFileSync(file, text);
    else writeFileSync(file, text);
  } catch (error) {
    throw refusal(flag, file, error);
  }
}

/** @param calledBy the flag that names the address @throws SettingsError for what is no address of a server */
export function checkAddress(calledBy: string, url: string): void {
  const written = JSON.stringify(url);
  if (!/^https?:\/\//.test(url)) {
    throw new SettingsError(`${calledBy} must begin with http:// or https://, not ${written}`);
  }
  if (!URL.canParse(url)) {
    throw new SettingsError(`${calledBy} must have a host, and a port of at most 65535, not ${written}`);
  }
  if (new URL(url).username !== '') {
    throw new SettingsError(`${calledBy} must not have a user in it: requests are sent with a key alone`);
  }
}

/** @throws SettingsError for flags that a sandbox which runs elsewhere cannot follow */
export function refuseOwnSettings(settingFlags: Readonly<Record<string, unknown>>): void {
  const ours = SETTINGS.find(({ name }) => name !== 'adminToken' && settingFlags[name] !== undefined);
  if (ours === undefined) return;
  throw new SettingsError(`${ours.flag} cannot be set with --url: that sandbox has its settings already`);
}
