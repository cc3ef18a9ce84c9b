import { sandboxAt, type Sandbox } from './sandbox.ts';

export interface ConnectOptions {
  /** The address of the sandbox: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Needed for `worlds` and `dropWorld`. */
  readonly adminToken?: string;
  /** The keys that the sandbox accepts, if it accepts only some. `world()` uses them one after the other. */
  readonly apiKeys?: readonly string[];
}

/** A key that is unique among all tests, processes and machines. */
const freshKey = (): string => `sk_test_${crypto.randomUUID()}`;

/**
 * Connects to a running sandbox: `npm start`, a container, a shared server. No request is sent before the first world is used.
 */
export const connectSandbox = ({ url, adminToken, apiKeys }: ConnectOptions): Sandbox =>
  sandboxAt({
    url,
    adminToken,
    apiKeys,
    freshKey,
    close: () => Promise.resolve(),
  });
