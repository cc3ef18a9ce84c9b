import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setImmediate as yieldToEventLoop, setTimeout as wait } from 'node:timers/promises';
import { connectSandbox } from '../../../src/index.ts';
import { CrashWorld } from './crash-worlds.ts';
import { FastClient } from './fast-client.ts';
import type { LogLine } from '../../support/program.ts';
import { Random } from '../../support/world/random.ts';
import type { SnapshotWorld } from '../../support/world/snapshot-lines.ts';
import { keptWorlds, temporaryFolder } from '../../support/temporary-folder.ts';
import { WatchedProgram } from './watched-program.ts';
import { START } from '../../support/world/ways-in.ts';
import { OPENING_PAISE } from '../../support/world/world-moves.ts';

/** When a sandbox is killed. What the kill interrupted is found out afterwards, from what is on the disk. */
export const KILL_MOMENTS = [
  'whenever',
  'writing',
  'before the rename',
  'after the rename',
  'stopping',
  'starting',
] as const;
type KillMoment = (typeof KILL_MOMENTS)[number];

/** Worlds that do not change. They make the file so long that writing it takes a while. */
const IDLE_WORLDS = Array.from({ length: 10 }, (_, nth) => `sk_test_idle_${nth}`);
const PAYOUTS_OF_IDLE_WORLD = 200;

/** One state file, the sandboxes that use it one after the other, and the worlds that must survive their crashes. */
export class CrashTrial {
  readonly #file = join(temporaryFolder(), 'crash.state');
  readonly #worlds: readonly CrashWorld[];
  /** How often each thing happened, for the report. */
  readonly found = new Map<string, number>();
  readonly #random: Random;
  /** The worlds by the first characters of their ids, as in the log. */
  readonly #byId = new Map<string, CrashWorld>();
  #isKilled = false;
  /** How long the latest start took, in ms. */
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

  /** @param stateEvery how often the state is written */
  start(stateEvery = this.#random.pick(['1ms', '5ms', '20ms'])): WatchedProgram {
    this.#isKilled = false;
    return new WatchedProgram({
      environment: {
        SANDBOX_STATE: this.#file,
        SANDBOX_STATE_EVERY: stateEvery,
        SANDBOX_CLOCK: START,
        SANDBOX_OPENING_BALANCE: String(OPENING_PAISE / 100),
        SANDBOX_RATE_LIMIT: 'off',
      },
      line: (text) => this.#read(text),
    });
  }

  /** The first run, which stops cleanly and leaves all worlds in the file. */
  async prepare(): Promise<void> {
    const program = this.start();
    const url = String((await program.ready)!['url']);
    const fast = new FastClient(url);
    for (const key of IDLE_WORLDS) {
      const payouts = Array.from({ length: PAYOUTS_OF_IDLE_WORLD }, (_, nth) => `r${nth}`);
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

  /** A run that ends with SIGKILL. @param kept the worlds in the file at its start */
  async crash(killMoment: KillMoment, kept: readonly SnapshotWorld[]): Promise<void> {
    this.count(`killed: ${killMoment}`);
    const began = performance.now();
    // a start that is killed as such must write nothing, even if it is ready before: its log may not have said so yet
    const { mtimeMs: writtenMs } = statSync(this.#file);
    const program = this.start(killMoment === 'starting' ? '1h' : undefined);
    const killed = async (): Promise<void> => {
      this.#isKilled = true;
      program.child.kill('SIGKILL');
      await program.ended;
    };
    if (killMoment === 'starting') {
      const before = readFileSync(this.#file);
      await wait(this.#random.below(this.#startMs));
      await killed();
      assert.deepEqual(readFileSync(this.#file), before, 'a start changes nothing');
      return;
    }
    const ready = await program.ready;
    assert.ok(ready !== null, `it starts: ${program.stderr}`);
    this.#startMs = performance.now() - began;
    this.#assertReportsRestored(ready, kept, writtenMs);
    const url = String(ready['url']);
    await this.#assertWorldsMatch(url);
    const running = this.#worlds.map((world) =>
      world.run(
        url,
        () => this.#isKilled,
        () => this.count('moves'),
      ),
    );
    const end = this.#moment(killMoment, program).then(killed);
    await Promise.all([...running, end]);
    assert.equal(program.stderr, '');
    const isThere = existsSync(this.#unfinished);
    if (this.#isUnfinishedWhole()) this.count('found: whole, before its rename');
    else this.count(isThere ? 'found: cut off' : 'found: nothing unfinished');
  }

  /** Reads the file after a kill: it must be whole, and show each world in a state that it really had. */
  restored(): readonly SnapshotWorld[] {
    const kept = keptWorlds(this.#file);
    assert.ok(kept !== null, 'the file is there');
    assert.equal(kept.length, IDLE_WORLDS.length + this.#worlds.length);
    for (const written of kept) {
      const world = this.#byId.get(written.id.slice(0, 8));
      if (world === undefined) assert.equal(written.payouts.length, PAYOUTS_OF_IDLE_WORLD);
      else this.count('moves lost', world.restored(written));
    }
    return kept;
  }

  /** The last run, which stops cleanly and leaves nothing but the file. */
  async finish(kept: readonly SnapshotWorld[]): Promise<void> {
    const { mtimeMs: writtenMs } = statSync(this.#file);
    const program = this.start();
    const ready = (await program.ready)!;
    this.#assertReportsRestored(ready, kept, writtenMs);
    await this.#assertWorldsMatch(String(ready['url']));
    program.child.kill('SIGTERM');
    assert.deepEqual(await program.ended, { code: 0, signal: null });
    assert.deepEqual(readdirSync(dirname(this.#file)), ['crash.state']);
  }

  /** The ready line says what was restored. @param writtenMs when the file was written; the program may have written it anew by now */
  #assertReportsRestored(ready: LogLine, kept: readonly SnapshotWorld[], writtenMs: number): void {
    const { restored, restored_payouts, restored_from, restored_age_s } = ready;
    assert.deepEqual(
      { restored, restored_payouts, restored_from },
      {
        restored: kept.length,
        restored_payouts: kept.reduce((sum, { payouts }) => sum + payouts.length, 0),
        restored_from: this.#file,
      },
    );
    const ageMs = Date.now() - writtenMs; // the file was read before this
    assert.ok(Number(restored_age_s) >= 0 && Number(restored_age_s) <= ageMs / 1000 + 1);
  }

  async #assertWorldsMatch(url: string): Promise<void> {
    await Promise.all(this.#worlds.map((world) => world.assertMatchesModel(url)));
    const idle = IDLE_WORLDS.map((key) => connectSandbox({ url }).world(key).summary());
    for (const { invariants } of await Promise.all(idle)) assert.equal(invariants, 'hold');
    this.count('restores');
  }

  /** Resolves when it is time to kill. Each moment is certain to come, since there is always something to write. */
  async #moment(killMoment: KillMoment, program: WatchedProgram): Promise<void> {
    const until = async (isTime: () => boolean): Promise<void> => {
      while (!isTime() && program.child.exitCode === null) await yieldToEventLoop();
    };
    const moves = this.#moves + 20 + this.#random.below(100);
    await until(() => this.#moves >= moves);
    const { mtimeMs } = statSync(this.#file);
    switch (killMoment) {
      case 'writing':
        return until(() => existsSync(this.#unfinished));
      case 'before the rename':
        return until(() => this.#isUnfinishedWhole());
      case 'after the rename':
        return until(() => statSync(this.#file).mtimeMs !== mtimeMs);
      case 'stopping':
        this.#isKilled = true; // from here on a refused request is no failure
        program.child.kill('SIGTERM');
        await wait(this.#random.below(100));
        return;
      default:
    }
  }

  get #moves(): number {
    return this.found.get('moves') ?? 0;
  }

  /** The unfinished file of the current sandbox. */
  get #unfinished(): string {
    const prefix = `${basename(this.#file)}.tmp-`;
    const folder = readdirSync(dirname(this.#file)).find((name) => name.startsWith(prefix));
    return join(dirname(this.#file), folder ?? 'none', 'unfinished');
  }

  #isUnfinishedWhole(): boolean {
    try {
      return readFileSync(this.#unfinished, 'latin1').slice(-40).includes('\n{"worlds":');
    } catch {
      return false; // it has been renamed
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
