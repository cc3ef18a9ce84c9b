import { once } from 'node:events';
import { readdirSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockFile } from '../../src/platform/state-lock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Leaves a socket at a path on which nobody listens, as a process that was killed does. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(path);
  await once(server, 'listening');
  renameSync(path, `${path}.moved`);
  await new Promise((resolve) => server.close(resolve));
  renameSync(`${path}.moved`, path);
}

test('of eight sandboxes that find the lock of one that was killed, one after the other, one gets it', async () => {
  for (let round = 0; round < 10; round += 1) {
    const folder = temporaryFolder();
    const file = join(folder, 'sandbox.state');
    await leaveSocket(`${file}.lock1`);
    const claims = Array.from({ length: 8 }, async (_, nth) => {
      for (let turn = 0; turn < nth; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return lockFile(file);
    });
    const locks = await Promise.all(claims);
    const held = locks.filter((lock) => typeof lock === 'function');
    expect([held.length, new Set(locks).size]).toEqual([1, 2]);
    expect(await lockFile(file)).toBe('taken');
    await held[0]!();
    expect(readdirSync(folder)).toEqual([]);
  }
});
