import { onTestFinished } from 'vitest';
import { startSandbox, type Sandbox, type SettingsInput } from '../../../src/index.ts';
import { freshStore } from './fresh-store.ts';
import { clientOf, type Client } from '../sandbox.ts';

/** Servers of one store, in this process. */
export interface SharedServers {
  readonly store: string;
  readonly servers: readonly Sandbox[];
  /** A client of the same world at each server. */
  readonly clients: (apiKey?: string) => readonly Client[];
}

export async function serversFor(count: number, settings: SettingsInput = {}): Promise<SharedServers> {
  const store = settings.store ?? (await freshStore());
  const servers: Sandbox[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const server = await startSandbox({ rateLimit: 'off', ...settings, store });
    onTestFinished(() => server.close());
    servers.push(server);
  }
  const clients = (apiKey = 'sk_test_shared') => servers.map((server) => clientOf(server.world(apiKey)));
  return { store: String(store), servers, clients };
}
