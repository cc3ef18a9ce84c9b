import { SETTINGS, SettingsError } from '../settings.ts';

/** @param calledBy the flag that names the address */
export function checkAddress(calledBy: string, url: string): void {
  const written = JSON.stringify(url);
  if (!/^https?:\/\//.test(url)) {
    throw new SettingsError(`${calledBy} must begin with http:// or https://, not ${written}`);
  }
  if (!URL.canParse(url)) {
    throw new SettingsError(`${calledBy} must have a host, and a port of at most 65535, not ${written}`);
  }
  if (new URL(url).username !== '') {
    throw new SettingsError(`${calledBy} must not contain a user name: requests are sent with a key alone`);
  }
}

/** Checks `--url`, and refuses a setting that cannot be applied, since the sandbox runs elsewhere. */
export function checkElsewhere(url: string, settingFlags: Readonly<Record<string, unknown>>): void {
  checkAddress('--url', url);
  const ours = SETTINGS.find(({ name }) => name !== 'adminToken' && settingFlags[name] !== undefined);
  if (ours === undefined) return;
  throw new SettingsError(`${ours.flag} cannot be set with --url: that sandbox already has its own settings`);
}
