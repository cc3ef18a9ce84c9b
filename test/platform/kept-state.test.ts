import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { keptState } from '../../src/platform/state/kept-state.ts';
import { compiler, initiate, logFor } from '../support/world/core.ts';
import { ManualClock } from '../support/world/manual-clock.ts';
import { keptWorlds, temporaryFolder } from '../support/temporary-folder.ts';

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

/** A world, and the file that keeps it, which is being written when `meanwhile` is called. */
async function keptWorld(file = join(temporaryFolder(), 'sandbox.state')) {
  const wallClock = new BusyClock();
  const { log: worlds, world } = logFor({}, wallClock);
  const log = pino({ level: 'silent' });
  const kept = keptState({ file, everyMs: EVERY_MS, worlds, compiler, wallClock, log });
  const pay = (reference: string) => world('a').submit(initiate({ client_ref_id: reference }));
  const references = () => keptWorlds(file)?.[0]?.payouts.map(({ clientRefId }) => clientRefId);
  await pay('before');
  kept.start();
  return { file, wallClock, kept, pay, references };
}

test('a payout that arrives while the state is written is in the next file, without another request', async () => {
  const { wallClock, kept, pay, references } = await keptWorld();
  onTestFinished(() => kept.end());
  wallClock.meanwhile = async () => pay('meanwhile');
  await wallClock.pass(EVERY_MS);
  await expect.poll(references).toEqual(['before']);
  await expect.poll(() => wallClock.pass(EVERY_MS).then(references)).toEqual(['before', 'meanwhile']);
});

test('a stop while the state is written waits for that, and then writes what came meanwhile', async () => {
  const { file, wallClock, kept, pay, references } = await keptWorld();
  const seen: unknown[] = [];
  let ended: Promise<unknown> | undefined;
  wallClock.meanwhile = async () => {
    await pay('meanwhile');
    ended = kept.end();
    // long enough for another write, if one began
    for (let nth = 0; nth < 50; nth += 1) await stat(dirname(file)).then(() => seen.push(references()));
  };
  await wallClock.pass(EVERY_MS);
  await expect.poll(() => ended !== undefined).toBe(true);
  await ended;
  expect(new Set(seen)).toEqual(new Set([undefined]));
  expect(references()).toEqual(['before', 'meanwhile']);
  expect(readdirSync(dirname(file))).toEqual(['sandbox.state']);
});

test('a stop that could not write its state leaves no other file, and frees the state file for the next start', async () => {
  const { file, kept } = await keptWorld();
  await kept.restore();
  mkdirSync(file);
  await expect(kept.end()).rejects.toThrow('cannot be written');
  expect(readdirSync(dirname(file))).toEqual(['sandbox.state']);
  rmdirSync(file);
  const next = await keptWorld(file);
  await next.kept.restore();
  await next.kept.end();
  expect(next.references()).toEqual(['before']);
});
