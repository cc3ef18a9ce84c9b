import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { KeptState } from '../../src/platform/state/kept-state.ts';
import { compiler, initiate, logFor } from '../support/world/core.ts';
import { ManualClock } from '../support/world/manual-clock.ts';
import { keptWorlds, stateFolder } from '../support/state-folder.ts';

const EVERY_MS = 30_000;

/** A clock that lets a test act while the state is being written. */
class BusyClock extends ManualClock {
  meanwhile: (() => Promise<unknown>) | null = null;

  override async yieldToEventLoop(): Promise<void> {
    const act = this.meanwhile;
    this.meanwhile = null;
    await act?.();
  }
}

test('a payout that arrives while the state is written is in the next file, without another request', async () => {
  const file = join(stateFolder(), 'sandbox.state');
  const wallClock = new BusyClock();
  const { log: worlds, world } = logFor({}, wallClock);
  const log = pino({ level: 'silent' });
  const kept = new KeptState({ file, everyMs: EVERY_MS, worlds, compiler, wallClock, log });
  onTestFinished(() => kept.end());
  const used = world('a');
  await used.submit(initiate({ client_ref_id: 'before' }));
  wallClock.meanwhile = async () => used.submit(initiate({ client_ref_id: 'meanwhile' }));
  const references = () => keptWorlds(file)?.[0]?.payouts.map(({ clientRefId }) => clientRefId);
  kept.start();
  await wallClock.pass(EVERY_MS);
  await expect.poll(references).toEqual(['before']);
  await expect.poll(() => wallClock.pass(EVERY_MS).then(references)).toEqual(['before', 'meanwhile']);
});
