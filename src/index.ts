import { pino } from 'pino';
import { durationMs } from './contract/duration.ts';
import { Refusal } from './contract/errors.ts';
import type { Change } from './domain/transaction.ts';
import type { World } from './domain/world.ts';
import { systemClock } from './runtime/system-clock.ts';
import { startServer } from './server.ts';
import { readSettings, SettingsError, type SettingsInput } from './settings.ts';

/** The time of one world. */
export interface WorldClockControl {
  /** World time, as a Date. */
  now(): Date;
  /** Stops the clock where it stands. */
  freeze(): Promise<void>;
  /** Lets it run on from where it stands. */
  resume(): Promise<void>;
  /**
   * Moves the clock forward and resolves when all that came due has happened.
   *
   * @param by a duration (`'90s'`, `'2h'`, `'3d'`, `'PT90S'`)
   * @returns what changed, in the order in which it happened
   * @throws Refusal when the text is no duration, or the time would pass the year 9999
   */
  advance(by: string): Promise<readonly Change[]>;
}

/** One API key, and all that it sees. */
export interface SandboxWorld {
  readonly apiKey: string;
  /** The base address for a client: the same for every world. */
  readonly url: string;
  readonly clock: WorldClockControl;
}

/** A payout sandbox that listens in this process. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  /**
   * The world of a key; without one, a fresh world: `sk_test_world_1`, `sk_test_world_2` and so on, or the next of the keys
   * in `apiKeys`.
   *
   * @throws SettingsError for a key that is not in `apiKeys`, or when there is none left
   */
  world(apiKey?: string): SandboxWorld;
  /** Answers the requests under way and ends, within a second. */
  close(): Promise<void>;
}

/**
 * Starts a payout sandbox in this process, on a free port of the loopback address and without a log unless the
 * options say otherwise. The environment is not read.
 *
 * @param options any setting of the README's table, by its name in camel case
 * @throws SettingsError for a wrong option; the error of `listen` when the port is taken
 */
export async function startSandbox(options: SettingsInput = {}): Promise<Sandbox> {
  const settings = readSettings({ port: 0, logLevel: 'silent', ...options }, {});
  const server = await startServer(settings, systemClock(), pino({ level: settings.logLevel, base: null }));
  let worldsMade = 0;
  const freshKey = (): string => {
    worldsMade += 1;
    if (settings.apiKeys === undefined) return `sk_test_world_${worldsMade}`;
    const key = settings.apiKeys[worldsMade - 1];
    if (key === undefined)
      throw new SettingsError(`apiKeys has no more than ${settings.apiKeys.length} keys`);
    return key;
  };
  return {
    url: server.url,
    world(apiKey = freshKey()) {
      if (settings.apiKeys !== undefined && !settings.apiKeys.includes(apiKey)) {
        throw new SettingsError('this key is none of those in apiKeys, the only ones that are accepted');
      }
      return { apiKey, url: server.url, clock: clockOf(() => server.worlds.of(apiKey)) };
    },
    close: () => server.close(),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const clockOf = (world: () => World): WorldClockControl => ({
  now: () => new Date(world().nowMs),
  freeze: () => world().freeze(),
  resume: () => world().resume(),
  async advance(by) {
    const byMs = durationMs(by);
    if (byMs === undefined) {
      throw new Refusal('INVALID_REQUEST', {
        message: `${JSON.stringify(by)} is no duration such as 90s, 2h or 3d`,
      });
    }
    return world().advance(byMs);
  },
});

export { Refusal } from './contract/errors.ts';
export { SettingsError, type SettingsInput } from './settings.ts';
export type { Change } from './domain/transaction.ts';
