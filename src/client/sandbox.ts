import type { WorldsAnswer } from '../contract/control-answers.ts';
import { ControlClient } from './control-client.ts';
import { World } from './world.ts';

/** A payout sandbox: in this process or elsewhere. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  /**
   * The world of a key; without one, a fresh world with a key that nobody else has.
   *
   * @throws Error when only certain keys are accepted and none is left
   */
  world(apiKey?: string): World;
  /** All worlds, the idlest first. @throws SandboxError UNAUTHORIZED without the admin token */
  worlds(): Promise<WorldsAnswer['worlds']>;
  /** Drops a world by its id. @throws SandboxError UNAUTHORIZED, WORLD_NOT_FOUND */
  dropWorld(id: string): Promise<void>;
  /** Ends what was begun by getting it: the server that was started, or nothing where it was only connected to. */
  close(): Promise<void>;
}

/** Where a sandbox is, and what one has of it. */
export interface Access {
  readonly url: string;
  readonly adminToken: string | undefined;
  /** The only keys that are accepted; undefined for every key that begins with `sk_test_`. */
  readonly apiKeys: readonly string[] | undefined;
  /** A key that nobody has used so far, where every key is accepted. */
  readonly freshKey: () => string;
  readonly close: () => Promise<void>;
}

interface Keys {
  readonly fresh: () => string;
  readonly check: (apiKey: string) => string;
}

/** A sandbox that answers at a URL. */
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

/** Gives out the keys of a list, one after the other, and takes no others. */
function listedKeys(apiKeys: readonly string[]): Keys {
  let given = 0;
  return {
    fresh() {
      const key = apiKeys[given];
      if (key === undefined) throw new Error(`apiKeys has no more than ${apiKeys.length} keys`);
      given += 1;
      return key;
    },
    check(apiKey) {
      if (apiKeys.includes(apiKey)) return apiKey;
      throw new Error('this key is none of those in apiKeys, the only ones that are accepted');
    },
  };
}
