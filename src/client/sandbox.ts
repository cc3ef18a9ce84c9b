import type { WorldsAnswer } from '../contract/control-answers.ts';
import { ControlClient } from './control-client.ts';
import { World } from './world.ts';

/** A payout sandbox: in this process or elsewhere. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  /**
   * The world of a key; without a key, a new world with a unique key.
   *
   * @throws Error when only listed keys are accepted and none is left
   */
  world(apiKey?: string): World;
  /** All worlds, the one that was idle longest first. @throws SandboxError UNAUTHORIZED without the admin token */
  worlds(): Promise<WorldsAnswer['worlds']>;
  /** Drops a world by its id. @throws SandboxError UNAUTHORIZED, WORLD_NOT_FOUND */
  dropWorld(id: string): Promise<void>;
  /** Stops the server that was started with it; does nothing for a sandbox that was only connected to. */
  close(): Promise<void>;
}

/** How to reach a sandbox. */
export interface Access {
  readonly url: string;
  readonly adminToken: string | undefined;
  /** The only keys that are accepted; undefined for every key that begins with `sk_test_`. */
  readonly apiKeys: readonly string[] | undefined;
  /** Makes a unique key, for a sandbox that accepts every key. */
  readonly freshKey: () => string;
  readonly close: () => Promise<void>;
}

interface Keys {
  readonly fresh: () => string;
  readonly check: (apiKey: string) => string;
}

/** The sandbox at a URL. */
export function sandboxAt({ url, adminToken = '', apiKeys, freshKey, close }: Access): Sandbox {
  const keys: Keys =
    apiKeys === undefined ? { fresh: freshKey, check: (apiKey) => apiKey } : listedKeys(apiKeys);
  const admin = new ControlClient(url, adminToken === '' ? 'none' : adminToken);
  return {
    url: admin.url,
    world: (apiKey) => new World(url, apiKey === undefined ? keys.fresh() : keys.check(apiKey)),
    worlds: async () => (await admin.get<WorldsAnswer>('/worlds')).worlds,
    async dropWorld(id) {
      await admin.delete(`/worlds/${encodeURIComponent(id)}`);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Uses the keys of a list, one after the other, and accepts no others. */
function listedKeys(apiKeys: readonly string[]): Keys {
  let given = 0;
  return {
    fresh() {
      const key = apiKeys[given];
      if (key === undefined) throw new Error(`all ${apiKeys.length} keys of apiKeys are in use`);
      given += 1;
      return key;
    },
    check(apiKey) {
      if (apiKeys.includes(apiKey)) return apiKey;
      throw new Error('this key is not in apiKeys, the only keys that are accepted');
    },
  };
}
