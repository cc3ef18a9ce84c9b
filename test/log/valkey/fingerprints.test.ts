import { describe, expect, test } from 'vitest';
import type { Worlds } from '../../../src/log/worlds.ts';
import type { WorldState } from '../../../src/world/state.ts';
import { initiate, readerOf } from '../../support/world/core.ts';
import { storedLogsFor } from '../../support/store/stored-log.ts';

const WORLD = 'b'.repeat(32);

/** The world as a server has it, which a bug or a broken machine might change. */
async function copyAt({ log }: { readonly log: Worlds }): Promise<WorldState> {
  const world = await log.use(WORLD);
  await world.read(() => null); // catches up
  return world.latest;
}

describe('a server whose copy of a world is wrong', () => {
  test('reads the world again from the store at the next command of another server, tells no event twice, and warns once', async () => {
    const { ofOne: one, ofOther: other } = await storedLogsFor();
    const { read } = await readerOf(await other.log.use(WORLD));
    await (await one.log.use(WORLD)).submit(initiate({ client_ref_id: 'a' }));
    const copy = await copyAt(other);
    copy.wallet = { ...copy.wallet, balancePaise: 1_000_000 };
    await (await one.log.use(WORLD)).submit(initiate({ client_ref_id: 'b' }));
    await (await one.log.use(WORLD)).submit(initiate({ client_ref_id: 'c' }));
    expect((await copyAt(other)).wallet).toEqual((await copyAt(one)).wallet);
    expect((await copyAt(other)).wallet.balancePaise).toBe(700);
    expect(read).toHaveLength(3); // one of each payout
    expect([one.warnings, other.warnings]).toEqual([
      [],
      [
        'two servers had different copies of world bbbbbbbb at command 2: this server reads it again from the store',
      ],
    ]);
  });

  test('is detected by the others, which keep theirs, and reads the world again at their next command', async () => {
    const { ofOne: one, ofOther: other } = await storedLogsFor();
    await (await one.log.use(WORLD)).submit(initiate({ client_ref_id: 'a' }));
    const world = await other.log.use(WORLD);
    (await copyAt(other)).generation = 7;
    for (const reference of 'bcdefgh') await world.submit(initiate({ client_ref_id: reference }));
    expect((await copyAt(one)).generation).toBe(1);
    expect(one.warnings.map((text) => text.replace(/.*: /, ''))).toEqual([
      'this server reads it again from the store',
    ]);
    await (await one.log.use(WORLD)).submit(initiate({ client_ref_id: 'i' }));
    expect((await copyAt(other)).generation).toBe(1);
    expect((await copyAt(other)).wallet.balancePaise).toBe(100);
    expect(other.warnings).toHaveLength(1);
  });
});
