import { expect } from 'vitest';
import { connectSandbox, type World } from '../../../src/index.ts';

const paise = (inr: number): number => Math.round(inr * 100);

/** The sum of the entries of each kind, in paise. */
async function entrySums(world: World): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = { all: 0, payout: 0, refund: 0 };
  for (const { kind, amount } of await world.entries()) {
    sums[kind] = (sums[kind] ?? 0) + paise(amount);
    sums['all']! += paise(amount);
  }
  return sums;
}

/** Fails unless the ledgers of these worlds explain every paisa. */
export async function expectMoneyHolds(url: string, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const world = connectSandbox({ url }).world(key);
    const { balance, invariants } = await world.summary();
    const wallet = await world.wallet();
    const sums = await entrySums(world);
    expect({ key, invariants, inEntries: sums['all'] }).toEqual({
      key,
      invariants: 'hold',
      inEntries: paise(balance),
    });
    const away = paise(wallet.in_flight) + paise(wallet.paid_out);
    expect({ key, away: 0 - sums['payout']! - sums['refund']! }).toEqual({ key, away });
  }
}
