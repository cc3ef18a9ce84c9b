import type { Sandbox } from '../../client/sandbox.ts';
import type { TestWorld } from '../../client/test-world.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { Evidence } from '../../referee/case.ts';
import type { Ending, Run } from './goals.ts';
import { HuntError } from './options.ts';

type Variables = Readonly<Record<string, string>>;

/**
 * Runs the client once against a world, and resolves however it ends.
 *
 * @param signal aborted when it has to end: it took too long, or nobody waits for it any more
 * @param variables what a command needs so that a sandbox that it starts itself is seen
 */
export type Client = (
  world: TestWorld,
  signal: AbortSignal,
  variables: Variables,
) => Promise<Exclude<Ending, { kind: 'stuck' }>>;

/** A world of a sandbox that the client started itself. */
export interface JoinedWorld {
  readonly evidence: Evidence;
  /** Whether the client chose its scenario, which replaced that of the run. */
  readonly hasOwnScenario: boolean;
}

/** Where the sandboxes that a client starts itself are seen. */
interface JoinedRun {
  readonly variables: Variables;
  /** @returns the worlds of each of its sandboxes */
  readonly end: () => Promise<readonly (readonly JoinedWorld[])[]>;
}

/** Opens one for a run with this scenario. */
export type OpenJoinedRun = (scenario: ScenarioInput) => Promise<JoinedRun>;

/** @param limitMs a client that runs longer is ended, as by `stop`, and counts as stuck */
export async function runClient(
  client: Client,
  world: TestWorld,
  limitMs: number,
  stop: AbortSignal,
  wallClock: WallClock,
  variables: Variables,
): Promise<Ending> {
  if (stop.aborted) return { kind: 'stuck', afterMs: 0 };
  const tooLong = new AbortController();
  const cancel = wallClock.schedule(wallClock.nowMs() + limitMs, () => tooLong.abort());
  const signal = AbortSignal.any([tooLong.signal, stop]);
  const aborted = new Promise<Ending>((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'stuck', afterMs: limitMs }), { once: true });
  });
  try {
    return await Promise.race([client(world, signal, variables), aborted]);
  } finally {
    cancel(); // a run that has ended is not aborted later
  }
}

const KEY = 'sk_test_hunt';

/**
 * The world with which a client that starts its own sandbox worked; null if it used the world of the run.
 *
 * @throws HuntError for a client whose run cannot be judged
 */
function ownWorld(sandboxes: readonly (readonly JoinedWorld[])[], hasUsedGiven: boolean): Evidence | null {
  const used = sandboxes.flat().filter(({ evidence }) => evidence.requests.length > 0);
  const [world] = used;
  if (world === undefined) return null;
  if (used.length > 1 || hasUsedGiven) {
    const count = used.length + Number(hasUsedGiven);
    throw new HuntError(
      `the command uses ${count} worlds, and a hunt is about one: let it run one test, for example with -t in vitest and jest, or --test-name-pattern`,
    );
  }
  if (world.hasOwnScenario) {
    throw new HuntError(
      'the test chooses a scenario (world.use), which replaces the failures of the hunt: hunt a test without one, and choose it with --scenario',
    );
  }
  return world.evidence;
}

/** Runs a client again and again, each time in a world of its own. */
export class WorldRuns {
  readonly #sandbox: Sandbox;
  readonly #client: Client;
  readonly #wallClock: WallClock;
  readonly #stop: AbortSignal;
  readonly #openJoined: OpenJoinedRun | undefined;
  #count = 0;

  constructor(
    sandbox: Sandbox,
    client: Client,
    wallClock: WallClock,
    stop: AbortSignal,
    openJoined?: OpenJoinedRun,
  ) {
    this.#openJoined = openJoined;
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
    const joined = await this.#openJoined?.(scenario);
    const beganMs = this.#wallClock.nowMs();
    const variables = joined?.variables ?? {};
    let sandboxes: readonly (readonly JoinedWorld[])[] = [];
    let ending: Ending;
    try {
      ending = await runClient(this.#client, world, limitMs, this.#stop, this.#wallClock, variables);
    } finally {
      sandboxes = (await joined?.end()) ?? [];
    }
    const durationMs = this.#wallClock.nowMs() - beganMs;
    const [requests, payouts, entries] = await Promise.all([
      world.requests(),
      world.transactions(),
      world.entries(),
    ]);
    const own = ownWorld(sandboxes, requests.length > 0);
    if (own !== null) return { ending, durationMs, evidence: own };
    const evicted = (requests[0]?.id ?? 1) - 1;
    return {
      ending,
      durationMs,
      evidence: { requests, evicted, ledger: { payouts, entries }, wall_now: null, clientEnded: true },
    };
  }
}
