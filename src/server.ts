import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { buildApp, type App } from './app.ts';
import type { Memory } from './http/limits/pressure.ts';
import type { Scenario } from './scenario/scenario.ts';
import type { WallClock } from './worlds/wall-clock.ts';
import { gracefulStop } from './platform/lifecycle.ts';
import type { Settings } from './settings.ts';

export interface Server extends Pick<App, 'worlds' | 'adminToken' | 'restored' | 'wasStoreReached'> {
  /** The address for a client on the same machine: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The scenario that was active at the start. */
  readonly scenario: Scenario;
  /** Answers the requests under way and ends, within a second; with a store that has just gone away, within six. */
  close(): Promise<void>;
}

/** For `localhost` Fastify would open a second server, whose connections could not be closed from here. */
const addressOf = (host: string): string => (host === 'localhost' ? '127.0.0.1' : host);

/** The address as a client on this machine would write it. */
function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/**
 * Builds the sandbox and listens.
 *
 * @throws the error of `listen` (EADDRINUSE, EACCES, ENOTFOUND …) when it cannot listen on that address
 */
export async function startServer(
  settings: Settings,
  wallClock: WallClock,
  log: Logger,
  memory?: Memory,
): Promise<Server> {
  const { app, scenarios, ...built } = await buildApp({ settings, wallClock, log, memory });
  const close = gracefulStop(app.server, () => app.close());
  try {
    await app.listen({ host: addressOf(settings.host), port: settings.port });
  } catch (error) {
    await app.close(); // else the lock of its state file and its connection to a store would stay
    throw error;
  }
  return { ...built, url: urlOf(app.server.address() as AddressInfo), scenario: scenarios.active, close };
}
