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
  /** The file of a certificate that was made at the start. */
  readonly certificate: string | undefined;
  /** The scenario that was active at the start. */
  readonly scenario: Scenario;
  /** Answers the requests under way and ends, within a second; with a store that has just gone away, within six. */
  close(): Promise<void>;
}

/** For `localhost` Fastify would open a second server, whose connections could not be closed from here. */
const addressOf = (host: string): string => (host === 'localhost' ? '127.0.0.1' : host);

/** The address as a client on this machine would write it. */
function urlOf({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  if (address === '0.0.0.0' || address === '::') return `${scheme}://127.0.0.1:${port}`;
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
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
  const { tls, tlsCert, tlsKey } = settings;
  const certificate =
    (tls ?? tlsCert ?? tlsKey) === undefined
      ? undefined
      : await (await import('./platform/certificates.ts')).certificateOf(settings, wallClock.nowMs());
  const { app, scenarios, ...built } = await buildApp({ settings, wallClock, log, memory, certificate });
  const stop = gracefulStop(app.server, () => app.close());
  const close = async (): Promise<void> => {
    try {
      await stop();
    } finally {
      await certificate?.dispose();
    }
  };
  try {
    await app.listen({ host: addressOf(settings.host), port: settings.port });
  } catch (error) {
    await close().catch(() => undefined); // else the lock of its state file and its connection to a store would stay
    throw error;
  }
  const url = urlOf(app.server.address() as AddressInfo, certificate === undefined ? 'http' : 'https');
  return { ...built, url, scenario: scenarios.active, certificate: certificate?.file, close };
}
