import type { Sandbox } from '../../client/sandbox.ts';
import type { TestWorld } from '../../client/test-world.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { Ending, Run } from './goals.ts';

/**
 * Runs the client once against a world, and resolves however it ends.
 *
 * @param signal aborted when it has to end: it took too long, or nobody waits for it any more
 */
export type Client = (world: TestWorld, signal: AbortSignal) => Promise<Exclude<Ending, { kind: 'stuck' }>>;

/** @param limitMs a client that runs longer is ended, as by `stop`, and counts as stuck */
export async function runClient(
  client: Client,
  world: TestWorld,
  limitMs: number,
  stop: AbortSignal,
  wallClock: WallClock,
): Promise<Ending> {
  const tooLong = new AbortController();
  const cancel = wallClock.schedule(wallClock.nowMs() + limitMs, () => tooLong.abort());
  const signal = AbortSignal.any([tooLong.signal, stop]);
  const aborted = new Promise<Ending>((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'stuck', afterMs: limitMs }), { once: true });
  });
  try {
    return await Promise.race([client(world, signal), aborted]);
  } finally {
    cancel(); // a run that has ended is not aborted later
  }
}

const KEY = 'sk_test_hunt';

/** Runs a client again and again, each time in a world of its own. */
export class WorldRuns {
  readonly #sandbox: Sandbox;
  readonly #client: Client;
  readonly #wallClock: WallClock;
  readonly #stop: AbortSignal;
  #count = 0;

  constructor(sandbox: Sandbox, client: Client, wallClock: WallClock, stop: AbortSignal) {
    this.#sandbox = sandbox;
    this.#client = client;
    this.#wallClock = wallClock;
    this.#stop = stop;
  }

  get count(): number {
    return this.#count;
  }

  /** The scenario of a new world with everything that decides how it behaves, so that a file with it is self-contained. */
  async baseScenario(settlement: ScenarioInput['settlement'], seed: string): Promise<ScenarioInput> {
    const world = this.#sandbox.world(KEY);
    const [{ document }, { opening_balance }] = await Promise.all([world.scenario(), world.summary()]);
    return {
      description: '', // first in the file
      wallet: { opening_balance },
      seed,
      settlement,
      rate_limit: 'off',
      ...(document as ScenarioInput),
    };
  }

  /** @param limitMs a client that runs longer is ended, and counts as stuck */
  async run(scenario: ScenarioInput, limitMs: number): Promise<Run> {
    this.#count += 1;
    await using world = this.#sandbox.world(`${KEY}_${this.#count}`); // the same keys in every hunt
    await world.use(scenario);
    const beganMs = this.#wallClock.nowMs();
    const ending = await runClient(this.#client, world, limitMs, this.#stop, this.#wallClock);
    const durationMs = this.#wallClock.nowMs() - beganMs;
    const [requests, payouts, entries] = await Promise.all([
      world.requests(),
      world.transactions(),
      world.entries(),
    ]);
    const evicted = (requests[0]?.id ?? 1) - 1;
    return {
      ending,
      durationMs,
      evidence: { requests, evicted, ledger: { payouts, entries }, wall_now: null, clientEnded: true },
    };
  }
}
