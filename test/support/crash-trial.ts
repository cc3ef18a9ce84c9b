import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setImmediate as letOthersRun, setTimeout as wait } from 'node:timers/promises';
import { connectSandbox } from '../../src/index.ts';
import { CrashWorld } from './crash-worlds.ts';
import { FastClient } from './fast-client.ts';
import type { LogLine } from './program.ts';
import { Random } from './random.ts';
import type { SnapshotWorld } from './snapshot-lines.ts';
import { keptWorlds, stateFolder } from './state-folder.ts';
import { WatchedProgram } from './watched-program.ts';
import { START } from './ways-in.ts';
import { OPENING_PAISE } from './world-moves.ts';

/** When a sandbox is killed. What was hit by that is seen afterwards, by what stands on the disk. */
export const AIMS = [
  'whenever',
  'writing',
  'before the rename',
  'after the rename',
  'stopping',
  'starting',
] as const;
type Aim = (typeof AIMS)[number];

/** Worlds that nothing happens to: they make the file long, so that to write it takes its time. */
const BALLAST = Array.from({ length: 10 }, (_, nth) => `sk_test_ballast_${nth}`);
const PAYOUTS_OF_BALLAST = 200;

/** One state file, the sandboxes that have it one after the other, and the worlds that are meant to outlive them. */
export class CrashTrial {
  readonly #file = join(stateFolder(), 'crash.state');
  /** Where the sandbox of now writes. */
  #unfinished = '';
  readonly #worlds: readonly CrashWorld[];
  /** How often each thing happened, for the figures. */
  readonly found = new Map<string, number>();
  readonly #random: Random;
  /** By the first characters of their ids, as the log has them. */
  readonly #byId = new Map<string, CrashWorld>();
  #isKilled = false;
  /** How long the latest start took. */
  #startMs = 500;

  constructor(seed: string) {
    this.#random = new Random(seed, 'kills');
    this.#worlds = Array.from(
      { length: 6 },
      (_, nth) => new CrashWorld(`sk_test_crash_${nth}`, new Random(seed, `world ${nth}`)),
    );
  }

  count(what: string, times = 1): void {
    this.found.set(what, (this.found.get(what) ?? 0) + times);
  }

  start(): WatchedProgram {
    this.#isKilled = false;
    const program = new WatchedProgram({
      environment: {
        SANDBOX_STATE: this.#file,
        SANDBOX_STATE_EVERY: this.#random.pick(['1ms', '5ms', '20ms']),
        SANDBOX_CLOCK: START,
        SANDBOX_OPENING_BALANCE: String(OPENING_PAISE / 100),
        SANDBOX_RATE_LIMIT: 'off',
      },
      line: (text) => this.#read(text),
    });
    this.#unfinished = `${this.#file}.${program.child.pid}.tmp`;
    return program;
  }

  /** The first life, which ends as it should: all worlds are in the file. */
  async prepare(): Promise<void> {
    const program = this.start();
    const url = String((await program.ready)!['url']);
    const fast = new FastClient(url);
    for (const key of BALLAST) {
      const payouts = Array.from({ length: PAYOUTS_OF_BALLAST }, (_, nth) => `r${nth}`);
      await Promise.all(payouts.map((client_ref_id) => fast.pay(key, { client_ref_id, amount: 1 })));
    }
    fast.close();
    for (const world of this.#worlds) {
      const { id } = await connectSandbox({ url }).world(world.key).summary();
      this.#byId.set(id.slice(0, 8), world);
    }
    program.child.kill('SIGTERM');
    assert.deepEqual(await program.ended, { code: 0, signal: null });
  }

  /** A life that ends by SIGKILL. @param kept what stands in the file that it starts with */
  async crash(aim: Aim, kept: readonly SnapshotWorld[]): Promise<void> {
    this.count(`killed: ${aim}`);
    const began = performance.now();
    const program = this.start();
    const killed = async (): Promise<void> => {
      this.#isKilled = true;
      program.child.kill('SIGKILL');
      await program.ended;
    };
    if (aim === 'starting') {
      const before = readFileSync(this.#file);
      await wait(this.#random.below(this.#startMs));
      await killed();
      assert.deepEqual(readFileSync(this.#file), before, 'a start changes nothing');
      return;
    }
    const ready = await program.ready;
    assert.ok(ready !== null, `it starts: ${program.stderr}`);
    this.#startMs = performance.now() - began;
    this.#assertTold(ready, kept);
    const url = String(ready['url']);
    await this.#assertSame(url);
    const lives = this.#worlds.map((world) =>
      world.live(
        url,
        () => this.#isKilled,
        () => this.count('moves'),
      ),
    );
    const end = this.#moment(aim, program).then(killed);
    await Promise.all([...lives, end]);
    assert.equal(program.stderr, '');
    const isThere = existsSync(this.#unfinished);
    if (this.#isUnfinishedWhole()) this.count('found: whole, before its rename');
    else this.count(isThere ? 'found: cut off' : 'found: nothing unfinished');
  }

  /** What stands on the disk after a kill: always a whole file, of a moment that every world really had. */
  restored(): readonly SnapshotWorld[] {
    const kept = keptWorlds(this.#file);
    assert.ok(kept !== null, 'the file is there');
    assert.equal(kept.length, BALLAST.length + this.#worlds.length);
    for (const written of kept) {
      const world = this.#byId.get(written.id.slice(0, 8));
      if (world === undefined) assert.equal(written.payouts.length, PAYOUTS_OF_BALLAST);
      else this.count('moves lost', world.restored(written));
    }
    return kept;
  }

  /** The last life, which ends as it should: nothing but the file is left. */
  async finish(kept: readonly SnapshotWorld[]): Promise<void> {
    const program = this.start();
    const ready = (await program.ready)!;
    this.#assertTold(ready, kept);
    await this.#assertSame(String(ready['url']));
    program.child.kill('SIGTERM');
    assert.deepEqual(await program.ended, { code: 0, signal: null });
    assert.deepEqual(readdirSync(dirname(this.#file)), ['crash.state']);
  }

  /** It says what it restored. */
  #assertTold(ready: LogLine, kept: readonly SnapshotWorld[]): void {
    const { restored, restored_payouts, restored_from, restored_age_s } = ready;
    assert.deepEqual(
      { restored, restored_payouts, restored_from },
      {
        restored: kept.length,
        restored_payouts: kept.reduce((sum, { payouts }) => sum + payouts.length, 0),
        restored_from: this.#file,
      },
    );
    const ageMs = Date.now() - statSync(this.#file).mtimeMs; // it was read before
    assert.ok(Number(restored_age_s) >= 0 && Number(restored_age_s) <= ageMs / 1000 + 1);
  }

  async #assertSame(url: string): Promise<void> {
    await Promise.all(this.#worlds.map((world) => world.agree(url)));
    const ballast = BALLAST.map((key) => connectSandbox({ url }).world(key).summary());
    for (const { invariants } of await Promise.all(ballast)) assert.equal(invariants, 'hold');
    this.count('restores');
  }

  /** Resolves when it is time to kill. Nothing is waited for that may never come: there is always something to write. */
  async #moment(aim: Aim, program: WatchedProgram): Promise<void> {
    const until = async (isTime: () => boolean): Promise<void> => {
      while (!isTime() && program.child.exitCode === null) await letOthersRun();
    };
    const moves = this.#moves + 20 + this.#random.below(100);
    await until(() => this.#moves >= moves);
    const { mtimeMs } = statSync(this.#file);
    switch (aim) {
      case 'writing':
        return until(() => existsSync(this.#unfinished));
      case 'before the rename':
        return until(() => this.#isUnfinishedWhole());
      case 'after the rename':
        return until(() => statSync(this.#file).mtimeMs !== mtimeMs);
      case 'stopping':
        this.#isKilled = true; // what is refused from here on is no fault
        program.child.kill('SIGTERM');
        await wait(this.#random.below(100));
        return;
      default:
    }
  }

  get #moves(): number {
    return this.found.get('moves') ?? 0;
  }

  #isUnfinishedWhole(): boolean {
    try {
      return readFileSync(this.#unfinished, 'latin1').slice(-40).includes('\n{"worlds":');
    } catch {
      return false; // it has its place by now
    }
  }

  #read(text: string): void {
    if (text.endsWith('"msg":"state written"}')) {
      this.count('files written');
      for (const world of this.#worlds) world.fileWritten();
    } else if (text.endsWith('"msg":"request"}')) {
      this.#byId.get(/"world":"(\w+)"/.exec(text)?.[1] ?? '')?.logged();
    }
  }
}
