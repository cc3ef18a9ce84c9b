import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { keptState } from '../../src/platform/state-file.ts';
import { compiler, initiate, logFor } from '../support/world/core.ts';
import { keptWorlds, temporaryFolder } from '../support/temporary-folder.ts';

const EVERY_MS = 30_000;

/** A world, and the file that keeps it, which is being written when others have their turn. */
async function keptWorld(file = join(temporaryFolder(), 'sandbox.state')) {
  const { log: worlds, world, wallClock } = logFor();
  const log = pino({ level: 'silent' });
  const kept = keptState({ file, everyMs: EVERY_MS, worlds, compiler, wallClock, log });
  const pay = (reference: string) => world('a').submit(initiate({ client_ref_id: reference }));
  const references = () => keptWorlds(file)?.[0]?.payouts.map(({ clientRefId }) => clientRefId);
  await pay('before');
  kept.start();
  /** Acts once while the state is being written. */
  const meanwhile = (act: () => Promise<unknown>): void => {
    wallClock.others = async () => {
      wallClock.others = () => undefined;
      await act();
    };
  };
  return { file, wallClock, kept, pay, references, meanwhile };
}

test('a payout that arrives while the state is written is in the next file, without another request', async () => {
  const { wallClock, kept, pay, references, meanwhile } = await keptWorld();
  onTestFinished(() => kept.end());
  meanwhile(() => pay('meanwhile'));
  await wallClock.pass(EVERY_MS);
  await expect.poll(references).toEqual(['before']);
  await expect.poll(() => wallClock.pass(EVERY_MS).then(references)).toEqual(['before', 'meanwhile']);
});

test('a stop while the state is written waits for that, and then writes what came meanwhile', async () => {
  const { file, wallClock, kept, pay, references, meanwhile } = await keptWorld();
  const seen: unknown[] = [];
  let ended: Promise<unknown> | undefined;
  meanwhile(async () => {
    await pay('meanwhile');
    ended = kept.end();
    // long enough for another write, if one began
    for (let nth = 0; nth < 50; nth += 1) await stat(dirname(file)).then(() => seen.push(references()));
  });
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
