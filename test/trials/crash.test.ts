import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setImmediate as yieldToEventLoop, setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { keptWorlds, temporaryFolder } from '../support/temporary-folder.ts';
import { Random } from '../support/world/random.ts';
import type { SnapshotWorld } from '../support/world/snapshot-lines.ts';
import { payMany } from '../support/many-payouts.ts';
import { clientOf } from '../support/sandbox.ts';
import { WatchedProgram } from './support/watched-program.ts';

const { CRASHES = '8', CRASH_SEED = String(Date.now()) } = process.env;

const say = (text: string): void => void process.stdout.write(`crash: ${text}\n`);

/** When a sandbox is killed. What the kill interrupted is found out afterwards, from what is on the disk. */
const MOMENTS = [
  'whenever',
  'writing',
  'before the rename',
  'after the rename',
  'stopping',
  'starting',
] as const;

const OPENING_PAISE = 100_000_000;
/** Worlds that do not change. They make the file so long that writing it takes a while. */
const IDLE_WORLDS = Array.from({ length: 10 }, (_, nth) => `sk_test_idle_${nth}`);
const IDLE_PAYOUTS = 200;

/** A world whose client makes one payout after the other: order-0 of ₹1, order-1 of ₹2, and so on. */
class CrashWorld {
  readonly key: string;
  /** How many payouts it has for certain, how many of them were logged by the latest file, and by the one before that. */
  logged = 0;
  #loggedAtFile = 0;
  #surelyKept = 0;
  /** How many were sent: the last may not have been made. */
  #sent = 0;

  constructor(key: string) {
    this.key = key;
  }

  /** A write began after the one before it had ended, so it has everything that was logged by then. */
  fileWritten(): void {
    this.#surelyKept = this.#loggedAtFile;
    this.#loggedAtFile = this.logged;
  }

  async payUntil(isKilled: () => boolean, url: string): Promise<void> {
    const { pay } = clientOf(connectSandbox({ url }).world(this.key));
    while (!isKilled()) {
      this.#sent += 1;
      const change = { client_ref_id: `order-${this.#sent - 1}`, amount: this.#sent };
      const { status } = await pay(change).catch(() => ({ status: 0 })); // its connection breaks
      if (!isKilled()) assert.equal(status, 200, this.key);
    }
  }

  /** Compares the world in a file with what it had: one payout after the other, and the money of each. */
  restored({ payouts, head }: SnapshotWorld): void {
    const count = payouts.length;
    for (const [nth, { clientRefId }] of payouts.entries()) assert.equal(clientRefId, `order-${nth}`);
    assert.equal(head.wallet.balancePaise, OPENING_PAISE - (100 * count * (count + 1)) / 2);
    assert.ok(count <= this.#sent && count >= this.#surelyKept, `${this.key}: ${count} payouts are kept`);
    this.#sent = this.logged = this.#loggedAtFile = this.#surelyKept = count;
  }
}

test('whenever a sandbox is killed, it starts again on the last whole file, and says so', async () => {
  say(`CRASH_SEED=${CRASH_SEED}, ${CRASHES} kills`);
  const random = new Random(CRASH_SEED, 'kills');
  const file = join(temporaryFolder(), 'crash.state');
  const worlds = Array.from({ length: 6 }, (_, nth) => new CrashWorld(`sk_test_crash_${nth}`));
  const byId = new Map<string, CrashWorld>();
  let lines = 0;
  let isKilled = false;
  const start = (stateEvery = random.pick(['1ms', '5ms', '20ms'])): WatchedProgram => {
    isKilled = false;
    return new WatchedProgram({
      environment: { SANDBOX_STATE: file, SANDBOX_STATE_EVERY: stateEvery, SANDBOX_RATE_LIMIT: 'off' },
      line(text) {
        if (text.endsWith('"msg":"state written"}')) for (const world of worlds) world.fileWritten();
        const world = byId.get(/"world":"(\w+)".*"msg":"request"\}$/.exec(text)?.[1] ?? '');
        if (world === undefined) return;
        world.logged += 1;
        lines += 1;
      },
    });
  };
  const stopped = async (program: WatchedProgram): Promise<void> => {
    program.child.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0, signal: null });
  };
  /** Reads the file: it must be whole, and show each world as it was. @returns what a start says of it */
  const kept = (): object => {
    const all = keptWorlds(file)!;
    expect(all).toHaveLength(IDLE_WORLDS.length + worlds.length);
    for (const written of all) {
      const world = byId.get(written.id.slice(0, 8));
      if (world === undefined) expect(written.payouts).toHaveLength(IDLE_PAYOUTS);
      else world.restored(written);
    }
    const payouts = all.reduce((sum, world) => sum + world.payouts.length, 0);
    return { restored: all.length, restored_payouts: payouts, restored_from: file };
  };
  /** Waits until a start says that it has restored the file, and asks it. @returns its address */
  const restoredBy = async (program: WatchedProgram, expected: object): Promise<string> => {
    const ready = await program.ready;
    expect(ready).toMatchObject(expected);
    const url = String(ready!['url']);
    const all = [...IDLE_WORLDS, ...worlds.map(({ key }) => key)].map((key) =>
      connectSandbox({ url }).world(key),
    );
    for (const { invariants } of await Promise.all(all.map((world) => world.summary())))
      expect(invariants).toBe('hold');
    return url;
  };
  const unfinished = `${file}.tmp`;
  const isWhole = (): boolean => {
    try {
      return readFileSync(unfinished, 'latin1').slice(-40).includes('\n{"worlds":');
    } catch {
      return false; // it has been renamed
    }
  };
  /** Resolves when it is time to kill. Each moment is certain to come, since there is always something to write. */
  const timeTo = async (moment: (typeof MOMENTS)[number], program: WatchedProgram): Promise<void> => {
    const until = async (isTime: () => boolean): Promise<void> => {
      while (!isTime() && program.child.exitCode === null) await yieldToEventLoop();
    };
    const enough = lines + 20 + random.below(100);
    await until(() => lines >= enough);
    const { mtimeMs } = statSync(file);
    if (moment === 'writing') await until(() => existsSync(unfinished));
    if (moment === 'before the rename') await until(isWhole);
    if (moment === 'after the rename') await until(() => statSync(file).mtimeMs !== mtimeMs);
    if (moment !== 'stopping') return;
    isKilled = true; // from here on a refused request is no failure
    program.child.kill('SIGTERM');
    await wait(random.below(100));
  };

  const first = start(); // stops cleanly, and leaves all worlds in the file
  const firstUrl = String((await first.ready)!['url']);
  for (const apiKey of IDLE_WORLDS) await payMany({ url: firstUrl, apiKey }, IDLE_PAYOUTS);
  for (const world of worlds) {
    const { id } = await connectSandbox({ url: firstUrl }).world(world.key).summary();
    byId.set(id.slice(0, 8), world);
  }
  await stopped(first);
  let expected = kept();

  let startMs = 500;
  for (let nth = 0; nth < Number(CRASHES); nth += 1) {
    const moment = MOMENTS[nth % MOMENTS.length]!;
    const before = readFileSync(file);
    const began = performance.now();
    const program = start(moment === 'starting' ? '1h' : undefined);
    if (moment === 'starting') await wait(random.below(startMs));
    else {
      const url = await restoredBy(program, expected);
      startMs = performance.now() - began;
      const paying = worlds.map((world) => world.payUntil(() => isKilled, url));
      await timeTo(moment, program);
      isKilled = true;
      program.child.kill('SIGKILL');
      await Promise.all(paying);
    }
    program.child.kill('SIGKILL');
    expect((await program.ended).stderr).toBe('');
    if (moment === 'starting') expect(readFileSync(file).equals(before)).toBe(true); // a start changes nothing
    expected = kept();
  }

  const last = start(); // stops cleanly, and leaves nothing but the file
  await restoredBy(last, expected);
  await stopped(last);
  expect(readdirSync(dirname(file))).toEqual(['crash.state']);
  say(`${lines} payouts`);
});
