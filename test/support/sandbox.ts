import { onTestFinished } from 'vitest';
import { startSandbox, type SettingsInput, type World } from '../../src/index.ts';

/** What a client sees of one answer. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; tests look into it freely. */
  readonly body: any; // oxlint-disable-line typescript/no-explicit-any -- the very thing under test
}

/** A request body that everybody accepts. */
export const PAYOUT = {
  client_ref_id: 'order-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
};

interface Init {
  readonly headers?: Record<string, string>;
  readonly body?: NonNullable<RequestInit['body']>;
}

/** A world, and a client that uses it as any client would: over HTTP. */
export interface Client extends Pick<World, 'apiKey' | 'url' | 'clock'> {
  readonly world: World;
  readonly send: (method: string, path: string, init?: Init) => Promise<Seen>;
  readonly pay: (change?: Record<string, unknown>) => Promise<Seen>;
  readonly status: (query: Record<string, string>) => Promise<Seen>;
  readonly balance: () => Promise<Seen>;
}

export async function seen(response: Response): Promise<Seen> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, headers: response.headers, text, body };
}

export function clientOf(world: World): Client {
  const { apiKey, url, clock } = world;
  const authorization = { authorization: `Bearer ${apiKey}` };
  const send = async (method: string, path: string, { headers, ...init }: Init = {}) =>
    seen(await fetch(url + path, { method, headers: { ...authorization, ...headers }, ...init }));
  return {
    world,
    apiKey,
    url,
    clock,
    send,
    pay: (change = {}) =>
      send('POST', '/payout/initiate', {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...PAYOUT, ...change }),
      }),
    status: (query) => send('GET', `/payout/status?${new URLSearchParams(query).toString()}`),
    balance: () => send('GET', '/client/fetchbalance'),
  };
}

/** A sandbox of its own for one test, without a rate limit unless asked for, which ends with the test. */
export async function sandboxFor(options: SettingsInput = {}) {
  const sandbox = await startSandbox({ rateLimit: 'off', ...options });
  onTestFinished(() => sandbox.close());
  return { url: sandbox.url, client: (apiKey?: string): Client => clientOf(sandbox.world(apiKey)) };
}
