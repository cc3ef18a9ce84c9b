import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startSandbox, type SettingsInput } from '../../../src/index.ts';
import { anyOutcomes, anyRules } from '../../support/world/commands.ts';
import { clientOf, type Client } from '../../support/sandbox.ts';
import { serversFor } from '../../support/store/shared-servers.ts';
import { sized } from '../../support/size.ts';

const OPENING = 1_000_000;
const SETTINGS: SettingsInput = {
  clock: '2026-01-15T10:30:00.000Z',
  openingBalance: OPENING,
  seed: 'any',
  settlement: 'demo',
  rateLimit: 'off',
};
const REFERENCES = Array.from({ length: 6 }, (_, nth) => `order-${nth}`);

/** What the client gets: what it sees of a response, or that the connection broke. */
const got = async (answer: ReturnType<Client['pay']>): Promise<readonly unknown[]> => {
  try {
    const { status, text, headers } = await answer;
    return [status, text, headers.get('x-a'), headers.get('x-sandbox-rule')];
  } catch {
    return ['broken'];
  }
};

/** Pays each reference three times, with reads in between, and lets all happen that is planned. */
async function story(servers: readonly Client[], isParallel: boolean) {
  let asked = 0;
  const next = (): Client => servers[(asked += 1) % servers.length]!;
  const payAndAsk = async (reference: string): Promise<readonly unknown[]> => {
    const change = { client_ref_id: reference, transfer_mode: reference.endsWith('1') ? 'NEFT' : 'IMPS' };
    const paid = await got(next().pay(change));
    return [reference, paid, await got(next().status({ client_ref_id: reference }))];
  };
  const ofAll = async (): Promise<readonly unknown[]> => {
    if (isParallel) return Promise.all(REFERENCES.map((reference) => payAndAsk(reference)));
    const seen: unknown[] = [];
    for (const reference of REFERENCES) seen.push(await payAndAsk(reference));
    return seen;
  };
  const seen: unknown[] = [];
  for (const wait of ['1s', '50ms', 'idle'] as const) {
    seen.push(await ofAll(), await got(next().balance()));
    await next().clock.advance(wait);
  }
  seen.push(await got(next().balance()));
  const { balance, in_flight, paid_out } = await next().world.wallet();
  expect(balance + in_flight + paid_out).toBeCloseTo(OPENING, 6);
  expect((await next().world.summary()).invariants).toBe('hold');
  const payouts = (await next().world.transactions())
    // which response was the last depends on when the end of a delayed one reaches the store, and nobody waits for that
    .map((payout) => Object.assign(payout, { told: payout.told !== null }))
    .toSorted((a, b) => a.client_ref_id.localeCompare(b.client_ref_id));
  return { seen, payouts };
}

describe('any outcomes and any rules', () => {
  test('give the same bytes at one server that is asked in turn and at three that are asked at once, and lose no money', async () => {
    const alone = await startSandbox({ ...SETTINGS, state: undefined });
    const { clients } = await serversFor(3, SETTINGS);
    let run = 0;
    try {
      await fc.assert(
        fc.asyncProperty(anyOutcomes, anyRules, async (outcomes, rules) => {
          const key = `sk_test_run_${(run += 1)}`;
          const one = [clientOf(alone.world(key))];
          const three = clients(key);
          for (const servers of [one, three]) await servers[0]!.world.use({ outcomes, rules });
          expect(await story(three, true)).toEqual(await story(one, false));
        }),
        { numRuns: sized(2, 200) },
      );
    } finally {
      await alone.close();
    }
  });
});
