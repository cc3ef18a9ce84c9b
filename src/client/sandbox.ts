import type { WorldsResponse } from '../contract/control-responses.ts';
import { ControlClient } from './control-client.ts';
import { World } from './controlled-world.ts';
import { sendOverHttp } from './http-client.ts';

/** What vitest and jest say of the test that runs, in `expect.getState()`. */
interface ExpectState {
  readonly currentTestName?: string;
  /** jest, in a concurrent test. */
  readonly currentConcurrentTestName?: () => string | undefined;
}

interface Runner {
  /** Of jest, and of vitest with `globals`. */
  readonly expect?: { readonly getState?: () => ExpectState };
  /** Of vitest: what runs at present. */
  readonly __vitest_worker__?: {
    readonly current?: { readonly type?: string; readonly concurrent?: boolean };
  };
}

/** Where vitest keeps its `expect`, also without `globals`. */
const VITEST = Symbol.for('expect-global');

/**
 * The title of the test that runs, with those of the groups around it, in vitest and jest. Undefined elsewhere, and where it is not certain:
 * between tests, and in vitest in a concurrent test.
 */
function runningTest(): string | undefined {
  const scope = globalThis as Runner & { readonly [VITEST]?: Runner['expect'] };
  const { current } = scope.__vitest_worker__ ?? {};
  if (current !== undefined && (current.type !== 'test' || current.concurrent)) return undefined;
  const state = (scope[VITEST] ?? scope.expect)?.getState?.();
  return state?.currentConcurrentTestName?.() ?? state?.currentTestName;
}

export interface WorldOptions {
  /** The key of the world; without it, the world is new and its key unique. */
  readonly apiKey?: string | undefined;
  /**
   * A name for reports, lists and log lines. By default, a new world has the title of the test that runs, in vitest and jest. ASCII
   * characters are kept, others become `-`, and it has at most 120. The world gets it with the first call of the object that `world()` returns.
   */
  readonly name?: string | undefined;
}

/** A payout sandbox: in this process or elsewhere. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  /** The file of the certificate that clients must trust, where the sandbox was started with `tls: 'self-signed'`. */
  readonly certificate: string | undefined;
  /**
   * The world of a key; without a key, a new world with a unique key, which a sandbox that accepts only listed keys refuses.
   *
   * @param given a key, or `{ apiKey, name }`
   */
  world(given?: string | WorldOptions): World;
  /** All worlds, the one that was idle longest first. @throws SandboxError UNAUTHORIZED without the admin token */
  worlds(): Promise<WorldsResponse['worlds']>;
  /** Drops a world by its id. @throws SandboxError UNAUTHORIZED, WORLD_NOT_FOUND */
  dropWorld(id: string): Promise<void>;
  /** Stops the server if it was started with this object; does nothing for a sandbox that it only connected to. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** The address of the sandbox: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Needed for `worlds` and `dropWorld`, and for `await using world`, which otherwise resets the world. */
  readonly adminToken?: string | undefined;
}

/**
 * Connects to a running sandbox: `npm start`, a container, a shared server. No request is sent before the first world is used.
 *
 * @throws TypeError without an address
 */
export function connectSandbox(options: ConnectOptions): Sandbox {
  const { url } = (options ?? {}) as Partial<ConnectOptions>;
  if (typeof url !== 'string' || !/^https?:/.test(url) || !URL.canParse(url)) {
    throw new TypeError("connectSandbox takes the address: connectSandbox({ url: 'http://127.0.0.1:3000' })");
  }
  const freshKey = (): string => `sk_test_${crypto.randomUUID()}`; // unique among all tests, processes and machines
  return sandboxAt(options, freshKey);
}

/** @param freshKey makes a key for a world without one */
export function sandboxAt(
  { url, adminToken, certificate }: ConnectOptions & { readonly certificate?: string | undefined },
  freshKey: () => string,
  close: () => Promise<void> = () => Promise.resolve(),
): Sandbox {
  const admin = new ControlClient(sendOverHttp, url, adminToken || 'none');
  const dropWorld = async (id: string): Promise<void> =>
    void (await admin.delete(`/worlds/${encodeURIComponent(id)}`));
  return {
    url: admin.url,
    certificate,
    world(given) {
      const { apiKey, name }: WorldOptions = typeof given === 'object' ? given : { apiKey: given };
      // a world with a key may be older than the test
      const shown = name ?? (apiKey === undefined ? runningTest() : undefined);
      return new World(sendOverHttp, url, apiKey ?? freshKey(), shown, adminToken ? dropWorld : undefined);
    },
    async worlds() {
      const listed = await admin.all<WorldsResponse['worlds'][number]>('/worlds', 'worlds');
      const latest = new Map(listed.map((world) => [world.id, world])); // one that is used meanwhile may come twice
      return listed.filter((world) => latest.get(world.id) === world);
    },
    dropWorld,
    close,
    [Symbol.asyncDispose]: close,
  };
}
