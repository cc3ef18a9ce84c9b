import { sandboxAt, type Sandbox } from './sandbox.ts';

export interface ConnectOptions {
  /** Where the sandbox is: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** For `worlds` and `dropWorld`. */
  readonly adminToken?: string;
  /** The keys that it accepts, where it accepts only some: `world()` gives them out one by one. */
  readonly apiKeys?: readonly string[];
}

/** A key that no other test, process or machine has. */
const freshKey = (): string => `sk_test_${crypto.randomUUID()}`;

/**
 * Connects to a sandbox that runs elsewhere: `npm start`, a container, a server shared by many. Nothing is sent before the
 * first world is used.
 */
export const connectSandbox = ({ url, adminToken, apiKeys }: ConnectOptions): Sandbox =>
  sandboxAt({
    url,
    adminToken,
    apiKeys,
    freshKey,
    close: () => Promise.resolve(),
  });
