import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientOf } from '../support/sandbox.ts';
import { keptWorlds, temporaryFolder } from '../support/temporary-folder.ts';
import { assertMatchesModel } from '../support/world/world-moves.ts';
import { MIB, Soak } from './support/soak.ts';
import { modelledWorld, watchedWorld } from './support/soak-worlds.ts';

const FLAT = 1.05;
/** More than all bounded stores of these settings hold together, and what is under way, ever takes beside an idle program. */
const MOST_BYTES = 32 * MIB;

const KEYS = Array.from({ length: 50 }, (_, nth) => `sk_test_modelled_${nth}`);

test('fifty worlds at full speed cause no error, take constant memory and agree with their models', async () => {
  const state = join(temporaryFolder(), 'soak.state');
  const soak = await Soak.start({
    SANDBOX_METRICS: 'on',
    SANDBOX_STATE: state,
    SANDBOX_STATE_EVERY: '1s',
    SANDBOX_JOURNAL_TOTAL: '2000',
    SANDBOX_MAX_WORLDS: '100',
  });
  const { program, sandbox } = soak;
  const { heapUsed: idle } = await program.heap();
  const modelled = KEYS.map((key) => modelledWorld(soak, key));
  const watched = KEYS.slice(0, 2).map((key) => watchedWorld(soak, key));
  await soak.run([...modelled, ...watched]);

  const worlds = await sandbox.worlds();
  expect(worlds).toHaveLength(KEYS.length);
  for (const [nth, model] of (await Promise.all(modelled)).entries())
    await assertMatchesModel(clientOf(sandbox.world(KEYS[nth])), model); // still, when all others are done
  await soak.stop();
  expect(keptWorlds(state)).toHaveLength(worlds.length);
  const { growth, most } = soak.held();
  expect(most - idle).toBeLessThan(MOST_BYTES); // whatever the speed
  expect(growth).toBeLessThan(FLAT);
});
