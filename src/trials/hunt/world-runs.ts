import type { Sandbox } from '../../client/sandbox.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';
import { worldIdOf } from '../../payout/identity.ts';
import { LONGEST_WAIT_MS } from '../../contract/scenario-document.ts';
import type { Evidence } from '../../referee/case.ts';
import { runClient, type Client, type Joined } from '../run.ts';
import type { HuntRun } from './goals.ts';
import { HuntError } from './options.ts';

/** A world of a sandbox that the client started itself. */
export interface JoinedWorld {
  readonly evidence: Evidence;
  /** Whether the client chose its scenario, which replaced that of the run. */
  readonly hasOwnScenario: boolean;
}

/** The worlds of each sandbox that a client starts itself, in a run with this scenario. */
type OpenJoinedRun = (scenario: ScenarioInput) => Promise<Joined<readonly JoinedWorld[]>>;

export interface HuntRunDeps {
  readonly sandbox: Sandbox;
  readonly client: Client;
  /** For a client that is a process, and may start sandboxes itself. */
  readonly openJoined?: OpenJoinedRun;
  readonly wallClock: WallClock;
  /** Ends the hunt early. */
  readonly stop: AbortSignal;
}

const KEY = 'sk_test_hunt';

export const NO_REQUEST =
  'no request used the key of the run: does the client use its url and its key? A command gets them with --env PAYOUT_URL={url} --env PAYOUT_KEY={key}';

/** The ids of the worlds of a hunt. */
export const worldsOfHunt = (): Set<string> => new Set([worldIdOf(KEY)]);

/**
 * The world of a sandbox that the client started; null if it used that of the run.
 *
 * @param others how many worlds of other keys it used in the sandbox of the hunt
 * @throws HuntError for several worlds, or a scenario
 */
function ownWorld(
  sandboxes: readonly (readonly JoinedWorld[])[],
  hasUsedGiven: boolean,
  others: number,
): Evidence | null {
  const used = sandboxes.flat().filter(({ evidence }) => evidence.requests.length > 0);
  const count = used.length + Number(hasUsedGiven) + others;
  if (count > 1) {
    throw new HuntError(
      `the command uses several worlds, and a hunt is about one: let it use only the key that it gets, and run one test, for example with -t in vitest and jest, or --test-name-pattern`,
    );
  }
  if (others > 0) throw new HuntError(NO_REQUEST);
  const [world] = used;
  if (world === undefined) return null;
  if (world.hasOwnScenario) {
    throw new HuntError(
      'the test chooses a scenario (world.use), which replaces the failures of the hunt: hunt a test without one, and choose it with --scenario',
    );
  }
  return world.evidence;
}

/** The scenario of a new world with everything that decides how it behaves, so that a file with it is self-contained. */
export async function baseScenario(
  sandbox: Sandbox,
  settlement: ScenarioInput['settlement'],
  seed: string,
): Promise<ScenarioInput> {
  const world = sandbox.world(KEY);
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

/** A client that is killed while its request is held, and run again: what it says then counts. */
const killedOnce =
  (client: Client, withinMs: number): Client =>
  async (world, signal, variables) => {
    const death = new AbortController();
    const held = world.held(1, { within: `${Math.min(withinMs, LONGEST_WAIT_MS)}ms` });
    held.then(
      () => death.abort(),
      () => undefined, // it ends before, or never sends that request
    );
    const ending = await client(world, AbortSignal.any([signal, death.signal]), variables);
    return death.signal.aborted && !signal.aborted ? client(world, signal, variables) : ending;
  };

/**
 * Runs the client once, in a world of its own.
 *
 * @param nth which run of its hunt it is: the keys are the same in every hunt
 * @param ofHunt the worlds of its runs, to which that of this run is added
 * @throws HuntError if the client uses any other world
 */
export async function runInWorld(
  { sandbox, client, openJoined, wallClock, stop }: HuntRunDeps,
  nth: number,
  ofHunt: Set<string>,
  scenario: ScenarioInput,
  limitMs: number,
  { isPending, isKilled }: { readonly isPending: boolean; readonly isKilled: boolean },
): Promise<HuntRun> {
  await using world = sandbox.world(`${KEY}_${nth}`);
  ofHunt.add(worldIdOf(world.apiKey));
  await world.use(scenario);
  const joined = await openJoined?.(scenario);
  const run = isKilled ? killedOnce(client, limitMs) : client;
  const done = await runClient(run, world, limitMs, stop, wallClock, joined);
  const [requests, payouts, entries, { speed }, worlds] = await Promise.all([
    world.requests(),
    world.transactions(),
    world.entries(),
    world.clock.read(),
    sandbox.worlds(),
  ]);
  const others = worlds.filter(({ id }) => !ofHunt.has(id)).length;
  const own = ownWorld(done.sandboxes, requests.length > 0, others);
  const evicted = (requests[0]?.id ?? 1) - 1;
  const given = { requests, evicted, ledger: { payouts, entries }, wall_now: null, speed, clientEnded: true };
  return { ...done, worlds: [own ?? given], isPending, isJoined: own !== null };
}
