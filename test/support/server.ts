import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { connectSandbox, type SettingsInput } from '../../src/index.ts';
import { systemClock } from '../../src/platform/system-clock.ts';
import type { WallClock } from '../../src/worlds/wall-clock.ts';
import { startServer } from '../../src/server.ts';
import type { Memory } from '../../src/http/limits/pressure.ts';
import { readSettings } from '../../src/settings.ts';
import type { LogLine } from './program.ts';
import { ManualClock } from './world/manual-clock.ts';

/** A server in this process, by default on a wall clock that only the test moves, with what it logs. It has no rate limit. */
export async function serverFor(
  settings: SettingsInput = {},
  wallClock: WallClock = new ManualClock(),
  memory?: Memory,
) {
  const logged: LogLine[] = [];
  const log = pino(
    { base: null },
    { write: (line: string) => void logged.push(JSON.parse(line) as LogLine) },
  );
  const parsed = readSettings({ port: 0, rateLimit: 'off', ...settings }, {});
  const server = await startServer(parsed, wallClock, log, memory);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= server.close());
  onTestFinished(close);
  const { url, worlds, adminToken } = server;
  const sandbox = connectSandbox({ url, adminToken });
  return { url, worlds, adminToken, sandbox, logged, close };
}

/** An app without a log, which the test lets listen, or asks directly. */
export async function appFor(settings: SettingsInput = {}, wallClock: WallClock = systemClock()) {
  const log = pino({ level: 'silent' });
  const built = await buildApp({ settings: readSettings(settings, {}), wallClock, log });
  onTestFinished(() => built.app.close());
  return built;
}
