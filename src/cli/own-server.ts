import { pino } from 'pino';
import { logOptions } from '../platform/logging.ts';
import { systemClock } from '../platform/system-clock.ts';
import { startServer, type Server } from '../server.ts';
import { readSettings, SETTINGS, SettingsError, type Settings, type SettingName } from '../settings.ts';

const ADDRESS_CALLS: ReadonlySet<string> = new Set(['getaddrinfo', 'bind', 'listen']);

const LISTEN_ERRORS: Readonly<Record<string, (at: string) => string>> = {
  EADDRINUSE: (at) => `${at} is already in use: choose another port with --port (0 picks a free one)`,
  EACCES: (at) => `${at} needs rights that this user does not have: choose a port above 1023`,
  EADDRNOTAVAIL: (at) => `${at} is not an address of this machine: choose another with --host`,
  ENOTFOUND: (at) => `${at}: there is no such host`,
};

/** The message for an error that concerns the address; undefined for any other error. */
function listenComplaint(error: unknown, { host, port }: Settings): string | undefined {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (LISTEN_ERRORS[code] !== undefined) return LISTEN_ERRORS[code](at);
  return ADDRESS_CALLS.has(syscall) ? `${at} cannot be used: ${code}` : undefined;
}

export async function startOwnServer(
  settings: Settings,
  log = pino(logOptions(settings)),
  wallClock = systemClock(),
): Promise<Server> {
  try {
    return await startServer(settings, wallClock, log);
  } catch (error) {
    const complaint = listenComplaint(error, settings);
    throw complaint === undefined ? error : new SettingsError(complaint, { cause: error });
  }
}

/** Flags of settings, as they were written. */
export type SettingFlags = { readonly [name in SettingName]?: string | undefined };

/** A journal that holds a long test run. */
export const REFEREE_DEFAULTS: SettingFlags = { journalEntries: '100000', journalTotal: '1000000' };

/** Of a sandbox for the clients of a command: a free port, and no log. */
const FOR_CLIENTS: SettingFlags = { port: '0', logLevel: 'silent' };
/** Whatever the sandbox of this machine listens on. */
const OWN_ADDRESS = { SANDBOX_PORT: '', SANDBOX_HOST: '' };
const NOBODY_ELSE = { SANDBOX_API_KEYS: '', SANDBOX_STATE: '', SANDBOX_STORE: '' };

/**
 * @param usual the values that apply unless a flag sets another
 * @param isAlone whether nobody else uses it: its keys and worlds are its own
 */
export const clientSettings = (
  usual: SettingFlags,
  flags: SettingFlags,
  environment: NodeJS.ProcessEnv,
  isAlone: boolean,
): Settings =>
  readSettings(
    { ...FOR_CLIENTS, ...usual, ...flags },
    { ...environment, ...OWN_ADDRESS, ...(isAlone && NOBODY_ELSE) },
  );

/** Settings that belong to one server, so that a sandbox that joins a command has its own. */
const OF_ONE_SERVER: ReadonlySet<SettingName> = new Set(['port', 'host', 'state', 'store']);

/** The settings that a user gave to a command, by flags or variables, apart from those that belong to one server. */
export const givenSettings = (flags: SettingFlags, environment: NodeJS.ProcessEnv): readonly SettingName[] =>
  SETTINGS.filter(({ name, env }) => !OF_ONE_SERVER.has(name) && (flags[name] ?? environment[env])).map(
    ({ name }) => name,
  );
