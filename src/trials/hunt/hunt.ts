import { stringify } from 'yaml';
import type { Sandbox } from '../../client/sandbox.ts';
import { USUAL_LIMITS, type ExpectedPayout } from '../../contract/conduct.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import { LONGEST_WAIT_MS } from '../../contract/scenario-document.ts';
import { often, rupees } from '../../contract/words.ts';
import { worldIdOf } from '../../payout/identity.ts';
import { caseOf, type Evidence } from '../../referee/case.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';
import { requestLine } from '../../referee/call.ts';
import { judge } from '../../referee/judge.ts';
import { failureText, HANG, KILL, PENDING, withFailures, type Failure } from './failures.ts';
import {
  GOALS,
  hitsIn,
  NOT_PAID,
  waitedForEver,
  type Goal,
  type Hit,
  type HuntRun,
  type RunRules,
} from './goals.ts';
import { HuntError, type HuntSettings } from './options.ts';
import {
  firstDifference,
  search,
  traceOf,
  type Reproduction,
  type Observation,
  type Round,
} from './search.ts';
import { summed, totalIn } from '../../referee/payments.ts';
import { paidIn, paidInBoth, tableFault } from '../run-money.ts';
import { baselineFault, runClient, type Client, type Joined } from '../run.ts';

/** Something that a hunt found, as text and as a scenario. */
export interface HuntFinding extends Reproduction {
  /** All of it as text for people. */
  readonly story: string;
  /** A scenario that makes the client do it again. Its description is the story. */
  readonly scenario: ScenarioInput;
  /** The same as the text of a scenario file. */
  readonly yaml: string;
  /** What should have been paid. */
  readonly expected: readonly ExpectedPayout[];
}

export interface Progress {
  readonly runs: number;
  readonly elapsedMs: number;
  readonly round: Round;
  readonly findings: readonly HuntFinding[];
}

export interface HuntResult {
  /** What it looked for. */
  readonly goals: readonly Goal[];
  /** At most one for each goal, in the order in which they were found. */
  readonly findings: readonly HuntFinding[];
  /** What it pays without any failure, in INR; null if it was stopped before that. */
  readonly baseline: { readonly payouts: number; readonly amount: number } | null;
  /** Accounts that the client pays the same amount several times without any failure, as sentences. */
  readonly paidSeveralTimes: readonly string[];
  /** Goals that were reached once, but not again under the same failures. */
  readonly flaky: readonly Hit[];
  /** How much of the search was done, for each number of failures. */
  readonly rounds: readonly Round[];
  /** What was not tried, as parts of a sentence; empty when nothing is left. */
  readonly notTried: readonly string[];
  /** All runs, including the baselines and those that repeated a finding. */
  readonly runs: number;
  readonly elapsedMs: number;
}

/** A world of a sandbox that the client started itself. */
export interface JoinedWorld {
  readonly evidence: Evidence;
  /** Whether the client chose its scenario, which replaced that of the run. */
  readonly hasOwnScenario: boolean;
}

/** The worlds of each sandbox that a client starts itself, in a run with this scenario. */
type OpenJoinedRun = (scenario: ScenarioInput) => Promise<Joined<readonly JoinedWorld[]>>;

export interface HuntDeps {
  readonly sandbox: Sandbox;
  readonly client: Client;
  /** For a client that is a process, and may start sandboxes itself. */
  readonly openJoined?: OpenJoinedRun;
  readonly wallClock: WallClock;
  /** Ends the hunt early. */
  readonly stop: AbortSignal;
  /** How payouts settle unless the scenario says otherwise. */
  readonly settlement: NonNullable<ScenarioInput['settlement']>;
  /** Whether the client is a command that can be killed and run again. */
  readonly mayKill?: boolean;
  /** The name of the table of expected payouts in messages. */
  readonly tableName?: string;
  readonly onFinding?: (finding: HuntFinding) => void;
  readonly onRun?: (progress: Progress) => void;
}

const KEY = 'sk_test_hunt';

const NO_REQUEST =
  'no request used the key of the run: does the client use its url and its key? A command gets them with --env PAYOUT_URL={url} --env PAYOUT_KEY={key}';

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
async function baseScenario(
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
async function runInWorld(
  { sandbox, client, openJoined, wallClock, stop }: HuntDeps,
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

/** What the runs with so many failures are called. */
export const roundName = (depth: number): string =>
  depth === 1 ? 'single failures' : depth === 2 ? 'pairs' : `sequences of ${depth} failures`;

/** How long a run may take, given how long the baselines took: enough for a client that waits out every failure. */
const limitMs = (baselineMs: number, failures: number, patienceMs: number): number =>
  3 * baselineMs + (failures + 1) * patienceMs;

/** What every run is judged by. Without a table of expected payouts, the baseline says what is to be paid. */
function rulesOf({ goals, intent, off, expect: table, patience }: HuntSettings, baseline: HuntRun): RunRules {
  const paid = paidInBoth(baseline, baseline, intent);
  const expect = [...(table === undefined ? paid.expected : summed(table))];
  return {
    goals,
    patienceMs: patience,
    settings: { intent, off, expect, limits: { ...USUAL_LIMITS, patience } },
    usual: table === undefined ? paid.usual : null,
  };
}

function observationOf(run: HuntRun, rules: RunRules): Observation {
  const facts = caseOf(run.worlds[0], rules.settings);
  return {
    trace: traceOf(facts),
    requests: facts.calls.map(requestLine),
    hits: hitsIn(run, rules),
    endless: [
      ...(waitedForEver(facts, rules.patienceMs) ? [HANG] : []),
      ...(run.isPending && run.ending.kind === 'stuck' ? [PENDING] : []),
    ],
  };
}

const MOST_LINES = 30;

/** A finding in words, and as a scenario. @param base how the service behaves without the failures */
function findingOf(
  found: Reproduction,
  expected: readonly ExpectedPayout[],
  base: ScenarioInput,
  patienceMs: number,
): HuntFinding {
  const { goal, message, failures, requests } = found;
  const left = requests.length - MOST_LINES;
  const story = [
    `${goal}: ${message}`,
    failures.length === 0 ? 'No failure is needed.' : 'What fails:',
    ...failures.map((failure, index) => `  ${index + 1}. ${failureText(failure)}`),
    'What the client did:',
    ...requests.slice(0, MOST_LINES).map((line) => `  ${line}`),
    ...(left > 0 ? [`  and ${left} more`] : []),
    '',
  ].join('\n');
  const scenario = withFailures({ ...base, description: story }, failures, patienceMs);
  return { ...found, story, expected, scenario, yaml: stringify(scenario, { lineWidth: 0 }) };
}

const NUMBERS = ['first', 'second', 'third', 'fourth'];

/** `42 of 124 pairs`, `anything that needs a third failure` */
function untried(rounds: readonly Round[]): readonly string[] {
  const open = rounds.filter(({ tried, of }) => tried < of);
  const { length } = rounds;
  return [
    ...open.map(({ depth, tried, of }) => `${of - tried} of ${of} ${roundName(depth)}`),
    `anything that needs a ${NUMBERS[length] ?? `${length + 1}th`} failure`,
  ];
}

/** @throws HuntError when the client fails without any failure, sends nothing, does not do the same twice, or does not pay what it should */
export async function runHunt(settings: HuntSettings, deps: HuntDeps): Promise<HuntResult> {
  const { goals, depth, seed, workers, intent, time: timeMs, patience: patienceMs } = settings;
  const { settlement, tableName = 'expect', wallClock, stop, onFinding, onRun } = deps;
  const beganMs = wallClock.nowMs();
  const elapsedMs = (): number => wallClock.nowMs() - beganMs;
  const base = await baseScenario(deps.sandbox, settlement, seed);
  const ofHunt = new Set([worldIdOf(KEY)]); // the ids of its worlds
  let runs = 0;
  const runWith = (failures: readonly Failure[], limit: number): Promise<HuntRun> => {
    runs += 1;
    const has = (kind: string): boolean => failures.some((failure) => failure.kind === kind);
    const scenario = withFailures(base, failures, patienceMs);
    return runInWorld(deps, runs, ofHunt, scenario, limit, { isPending: has(PENDING), isKilled: has(KILL) });
  };
  const findings: HuntFinding[] = [];
  const flaky: Hit[] = [];
  const rounds: Round[] = [];
  let notTried: readonly string[] = ['anything'];
  const result = () => ({
    goals: GOALS.filter((goal) => goals.includes(goal)),
    findings,
    flaky,
    rounds,
    notTried,
    runs,
    elapsedMs: elapsedMs(),
  });

  const [baseline, again] = [await runWith([], timeMs), await runWith([], timeMs)];
  if (stop.aborted) return { ...result(), baseline: null, paidSeveralTimes: [] };
  for (const run of [baseline, again]) {
    const fault = baselineFault(run, NO_REQUEST, [judge('run', run.worlds[0], { intent })]);
    if (fault !== null) throw new HuntError(fault);
  }
  const rules = rulesOf(settings, baseline);
  const baselineObserved = observationOf(baseline, rules);
  const difference = firstDifference(baselineObserved.trace, observationOf(again, rules).trace);
  if (difference !== null) {
    throw new HuntError(
      `the client is not deterministic enough: of two runs without failures, ${difference}`,
    );
  }
  const { expect } = rules.settings;
  const fault = settings.expect === undefined ? null : tableFault(baseline, expect, tableName, NOT_PAID);
  if (fault !== null) throw new HuntError(fault);
  const baselineMs = Math.max(baseline.durationMs, again.durationMs);

  const onFound = (found: Reproduction): void => {
    const finding = findingOf(found, expect, base, patienceMs);
    findings.push(finding);
    onFinding?.(finding);
  };
  const observe = async (failures: readonly Failure[]): Promise<Observation> => {
    stop.throwIfAborted();
    const run = await runWith(failures, limitMs(baselineMs, failures.length, patienceMs));
    stop.throwIfAborted(); // it was ended because the hunt was stopped
    onRun?.({ runs, elapsedMs: elapsedMs(), round: rounds.at(-1)!, findings });
    return observationOf(run, rules);
  };
  for (const hit of baselineObserved.hits) {
    onFound({ ...hit, failures: [], requests: baselineObserved.requests });
  }
  const mayKill = deps.mayKill === true && !baseline.isJoined;
  let isAll = false;
  try {
    isAll = await search(baselineObserved, {
      goals: goals.filter((goal) => !findings.some((finding) => finding.goal === goal)),
      depth,
      workers,
      mayKill,
      observe,
      mayGoOn: () => runs < settings.runs && elapsedMs() < timeMs,
      onFound,
      onFlaky: (hit) => void flaky.push(hit),
      rounds,
    });
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  notTried = [...(isAll ? [] : untried(rounds)), ...(mayKill ? [] : ['the death of the client'])];
  const several = settings.expect === undefined && intent === undefined ? expect : [];
  const paidSeveralTimes = several
    .filter(({ times }) => times > 1)
    .map(({ account, amount, times }) => `${account} is paid ${rupees(amount)} ${often(times)}`);
  return { ...result(), baseline: totalIn(paidIn(baseline)), paidSeveralTimes };
}
