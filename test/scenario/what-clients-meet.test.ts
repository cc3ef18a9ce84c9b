import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { inParallel } from '../../src/trials/run.ts';
import { clientFor, PAYOUT, type Client } from '../support/sandbox.ts';

/** What a shipped scenario does to a client that takes care, and to one that does not. */

const PATIENCE_MS = 1500;

interface Answer {
  readonly status: number;
  readonly data?: { readonly status?: string; readonly balance?: number };
}

/** The status and the data of a response; 0 for none in time. */
async function ask(world: Client, path: string, body?: object): Promise<Answer> {
  try {
    const response = await fetch(world.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status } = response;
    return text.endsWith('}') ? { status, data: (JSON.parse(text) as Answer).data! } : { status };
  } catch {
    return { status: 0 };
  }
}

const pay = (world: Client, reference: string): Promise<Answer> =>
  ask(world, '/payout/initiate', { ...PAYOUT, client_ref_id: reference });
const read = (world: Client, reference: string): Promise<Answer> =>
  ask(world, `/payout/status?client_ref_id=${reference}`);

/** Repeats one reference, and asks, until it sees a state; then looks again, also after some days. */
async function careful(world: Client): Promise<string> {
  let seen: string | undefined;
  for (let tries = 0; tries < 4 && seen === undefined; tries += 1) {
    if (tries > 0) await world.clock.advance('15s');
    const { status, data } = await pay(world, 'order-1');
    if (status === 402) return 'refused';
    seen = data?.status ?? (await read(world, 'order-1')).data?.status;
  }
  for (const wait of ['3s', '1m', '2h', '1d', '4d']) {
    await world.clock.advance(wait);
    seen = (await read(world, 'order-1')).data?.status ?? seen;
  }
  return seen ?? 'unknown';
}

/**
 * Treats every 200 as paid, if it then finds the payout and another balance, and pays anything else again under another reference. Its
 * job runs once more some days later.
 */
async function careless(world: Client): Promise<string> {
  const balance = async () => (await ask(world, '/client/fetchbalance')).data?.balance;
  const opening = await balance();
  let believes = 'gave up';
  for (let tries = 1; tries <= 3 && believes !== 'paid'; tries += 1) {
    if ((await pay(world, `order-${tries}`)).status !== 200) continue;
    const isThere = (await read(world, `order-${tries}`)).status !== 404;
    if (isThere && (await balance()) !== opening) believes = 'paid';
  }
  await world.clock.advance('5d');
  await pay(world, 'order-1');
  return believes;
}

/** What each client believes in the end, and how many payouts have left the wallet for good. */
async function meets(scenario: string, client: (world: Client) => Promise<string>): Promise<string> {
  const world = await clientFor({ clock: '2026-01-15T10:30:00Z', scenario });
  const believes = await client(world);
  const { transactions } = await world.world.summary();
  return `${believes}, ${transactions.PENDING + transactions.SUCCESS} paid`;
}

const SCENARIOS = readdirSync(new URL('../../fixtures/scenarios/', import.meta.url)).map((file) =>
  basename(file, '.yaml'),
);

/** A careful client, then a careless one. */
const MEETS: Record<string, readonly [careful: string, careless: string]> = {
  'bank-has-a-bad-day': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'bank-holiday-cut-off': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'duplicates-rejected': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'error-in-200': ['SUCCESS, 1 paid', 'gave up, 1 paid'],
  'error-in-200-after-commit': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'fails-late': ['FAILED, 0 paid', 'paid, 0 paid'],
  'flaky-day': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'gateway-html': ['SUCCESS, 1 paid', 'gave up, 1 paid'],
  'gateway-timeout-after-commit': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'happy-fast': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'insufficient-balance': ['refused, 0 paid', 'gave up, 0 paid'],
  'malformed-json': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'night-cut-off': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'not-found-then-found': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'one-bank-at-night': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'pending-for-days': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'pending-for-good': ['PENDING, 1 paid', 'paid, 1 paid'],
  'pending-then-reversed': ['REVERSED, 0 paid', 'paid, 0 paid'],
  'rate-limited': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'reference-expires': ['SUCCESS, 1 paid', 'paid, 2 paid'],
  'reset-after-commit': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'server-error': ['unknown, 0 paid', 'gave up, 0 paid'],
  'server-error-after-commit': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'slow-bank': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'stale-balance': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'stale-reads': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  strict: ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'success-before-answer': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'success-then-reversed': ['REVERSED, 0 paid', 'paid, 0 paid'],
  'terse-errors': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'timeout-after-commit': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'timeout-before-commit': ['SUCCESS, 1 paid', 'gave up, 1 paid'],
  'truncated-answer': ['SUCCESS, 1 paid', 'gave up, 3 paid'],
  'two-workers': ['SUCCESS, 1 paid', 'gave up, 0 paid'],
  'utr-early': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'utr-late': ['SUCCESS, 1 paid', 'paid, 1 paid'],
  'vanishing-payout': ['PENDING, 1 paid', 'gave up, 3 paid'],
};

test('a shipped scenario shows a careful client the truth, whatever a careless one believes', async () => {
  const met: Record<string, readonly string[]> = {};
  // several at once, since most of the time is spent in waiting for responses that do not come
  await inParallel(
    [...SCENARIOS],
    6,
    () => true,
    async (name) => void (met[name] = [await meets(name, careful), await meets(name, careless)]),
  );
  expect(met).toEqual(MEETS);
});
