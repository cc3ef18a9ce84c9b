import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { connectSandbox, SandboxError, type Sandbox } from '../../../src/index.ts';
import { Random } from '../../support/world/random.ts';
import { START } from '../../support/world/ways-in.ts';
import { OPENING_PAISE } from '../../support/world/world-moves.ts';
import { WatchedProgram } from './watched-program.ts';

const { SOAK_MINUTES = '0.33', SOAK_SEED = String(Date.now()) } = process.env;
/** A shorter run cannot tell a leak from stores that fill: it has no second minute and a last one to compare. */
const IS_LONG = Number(SOAK_MINUTES) >= 3;
const SOAK_MS = Number(SOAK_MINUTES) * 60_000;
const SAMPLE_EVERY_MS = 5000;
const ADMIN_TOKEN = 'the-token-of-the-admin';

export const MIB = 1024 * 1024;

/** A server of the built program, and worlds that use it at full speed until the time is over or one of them fails. */
export class Soak {
  readonly program: WatchedProgram;
  readonly sandbox: Sandbox;
  readonly #over = new AbortController();
  readonly #counts = new Map<string, number>();
  readonly #samples: { readonly bytes: number; readonly atMs: number }[] = [];
  readonly #errors: string[];

  private constructor(program: WatchedProgram, url: string, errors: string[]) {
    this.program = program;
    this.sandbox = connectSandbox({ url, adminToken: ADMIN_TOKEN });
    this.#errors = errors;
    this.say(`SOAK_SEED=${SOAK_SEED} for ${SOAK_MINUTES} min`);
    setTimeout(() => this.#over.abort(), SOAK_MS);
  }

  /** Starts the server, and the time. */
  static async start(environment: Readonly<Record<string, string>>): Promise<Soak> {
    const errors: string[] = [];
    const program = new WatchedProgram({
      environment: {
        SANDBOX_CLOCK: START,
        SANDBOX_OPENING_BALANCE: String(OPENING_PAISE / 100),
        SANDBOX_RATE_LIMIT: 'off', // full speed; one of the scenarios has a limit of its own
        SANDBOX_ADMIN_TOKEN: ADMIN_TOKEN,
        SANDBOX_JOURNAL_ENTRIES: '200', // full within the first minute, or it would pass for a leak in the ones after it
        ...environment,
      },
      measured: true,
      line: (text) => void (/^\{"level":[56]0/.test(text) && errors.push(text)),
    });
    return new Soak(program, String((await program.ready)!['url']), errors);
  }

  say(text: string): void {
    process.stdout.write(`soak: ${text}\n`);
  }

  /** Counts something that happened, for the report. */
  count(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  random(name: string): Random {
    return new Random(SOAK_SEED, name);
  }

  /** Aborted when the time is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Does again what was refused because the sandbox was reading as many snapshots as it does at once. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof SandboxError) || error.code !== 'SANDBOX_BUSY') throw error;
      }
    }
  }

  /** Looks at the heap, in bytes after a collection, until all of this is done. */
  async run(work: readonly Promise<unknown>[]): Promise<void> {
    const startedMs = performance.now();
    const sample = async (): Promise<void> => {
      while (!this.isOver()) {
        const { heapUsed: bytes } = await this.program.heap();
        this.#samples.push({ bytes, atMs: performance.now() - startedMs });
        await wait(SAMPLE_EVERY_MS, undefined, { signal: this.over }).catch(() => undefined);
      }
    };
    try {
      await Promise.all([...work, sample()]);
    } finally {
      this.#over.abort();
    }
  }

  /** Ends the server. Fails if it has logged an error, or does not end as it should. */
  async stop(): Promise<void> {
    this.program.child.kill('SIGTERM');
    const { code, stderr } = await this.program.ended;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.deepEqual(this.#errors, []);
    this.say(JSON.stringify(Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))));
  }

  /** The most bytes of the heap, and how many times as much it had in the last minute as in the second; 1 in a short run. */
  held(): { readonly most: number; readonly growth: number } {
    const median = (fromMs: number, toMs: number): number => {
      const samples = this.#samples.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
      assert.ok(samples.length > 0, 'the memory was looked at');
      return samples.map(({ bytes }) => bytes).toSorted((a, b) => a - b)[samples.length >> 1]!;
    };
    const most = Math.max(...this.#samples.map(({ bytes }) => bytes));
    const growth = IS_LONG ? median(SOAK_MS - 60_000, Infinity) / median(60_000, 120_000) : 1;
    this.say(`heap: ${(most / MIB).toFixed(1)} MiB at most, ${growth.toFixed(3)} times as much in the end`);
    return { most, growth };
  }
}
