import { startSandbox, type Sandbox, type SettingsInput, type World } from '../../src/index.ts';
import { isStored } from './size.ts';
import { onRowFinished } from './test-rows.ts';

/** What a client sees of one response. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; tests read it freely. */
  readonly body: any; // oxlint-disable-line typescript/no-explicit-any -- the shape is what tests check
}

/** A valid request body. */
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
  /** A body that is sent as JSON. */
  readonly json?: unknown;
  /** Leaves the request. */
  readonly signal?: AbortSignal;
}

/** A world, and a payout client that uses it over HTTP. */
export interface Client extends Pick<World, 'apiKey' | 'url' | 'clock'> {
  readonly world: World;
  readonly send: (method: string, path: string, init?: Init) => Promise<Seen>;
  readonly pay: (
    change?: Record<string, unknown>,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ) => Promise<Seen>;
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

/** Sends a request with no other headers than these, as somebody without a key does. */
export const fetched = async (url: string, init?: RequestInit): Promise<Seen> => seen(await fetch(url, init));

/** @param own headers that every request has */
export function clientOf(world: World, own: Record<string, string> = {}): Client {
  const { apiKey, url, clock } = world;
  const always = { authorization: `Bearer ${apiKey}`, ...own };
  const send = async (method: string, path: string, { headers, json, ...init }: Init = {}) => {
    const asJson = json === undefined ? {} : { 'content-type': 'application/json' };
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const all = { ...always, ...asJson, ...headers };
    return seen(await fetch(url + path, { method, headers: all, ...init, ...body }));
  };
  return {
    world,
    apiKey,
    url,
    clock,
    send,
    pay: (change = {}, headers = {}, signal) =>
      send('POST', '/payout/initiate', {
        headers,
        json: { ...PAYOUT, ...change },
        ...(signal && { signal }),
      }),
    status: (query) => send('GET', `/payout/status?${new URLSearchParams(query).toString()}`),
    balance: () => send('GET', '/client/fetchbalance'),
  };
}

/** Settings of new worlds. A sandbox with only these settings can be used again once all its worlds are dropped. */
const OF_WORLDS = new Set([
  'clock',
  'openingBalance',
  'settlement',
  'seed',
  'magic',
  'adminToken',
  'scenario',
  'rateLimit',
]);

/** A scenario that is named may be a file that changes, and a rate limit counts the requests of keys, whose worlds may be gone. */
const leavesNothing = ({ scenario, rateLimit = 'off' }: SettingsInput): boolean =>
  typeof scenario !== 'string' && rateLimit === 'off';

/** Sandboxes that no test is using, by their settings: starting one takes longer than most tests. */
const idle = new Map<string, Sandbox[]>();

/** Starts a sandbox, with a store of its own where the tests run a second time. */
async function start(options: SettingsInput): Promise<Sandbox> {
  const settings = { rateLimit: 'off', ...options };
  if (!isStored || settings.store !== undefined || settings.state !== undefined)
    return startSandbox(settings);
  const { freshStore } = await import('./store/fresh-store.ts');
  return startSandbox({ ...settings, store: await freshStore() });
}

/** Takes an idle sandbox with these settings, or starts one. After the test, or the row, it is idle again, without worlds. */
async function lend(settings: SettingsInput): Promise<Sandbox> {
  const key = JSON.stringify({ rateLimit: 'off', ...settings });
  const sandbox = idle.get(key)?.pop() ?? (await start(settings));
  onRowFinished(async () => {
    for (const { id } of await sandbox.worlds()) await sandbox.dropWorld(id);
    idle.set(key, [...(idle.get(key) ?? []), sandbox]);
  });
  return sandbox;
}

/** A sandbox that nobody else uses during this test, without a rate limit unless asked for. */
export async function sandboxFor(options: SettingsInput = {}) {
  const isLent = leavesNothing(options) && Object.keys(options).every((name) => OF_WORLDS.has(name));
  const sandbox = isLent ? await lend(options) : await start(options);
  if (!isLent) onRowFinished(() => sandbox.close());
  let worldsMade = 0;
  const freshKey = (): string => `sk_test_world_${(worldsMade += 1)}`; // the keys that a new sandbox would use
  return {
    url: sandbox.url,
    client: (apiKey?: string): Client => clientOf(sandbox.world(apiKey ?? (isLent ? freshKey() : undefined))),
  };
}

/** The client of a new world in a sandbox of its own. */
export const clientFor = async (options: SettingsInput = {}): Promise<Client> =>
  (await sandboxFor(options)).client();
