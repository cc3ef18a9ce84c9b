import type { Sandbox } from '../../client/sandbox.ts';
import { USUAL_LIMITS } from '../../contract/conduct.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import { caseOf } from '../../referee/case.ts';
import { requestLine } from '../../referee/request-line.ts';
import { Alphabet, failureName, type Failure } from './failures.ts';
import {
  differencesIn,
  failureText,
  hitsIn,
  type Goal,
  waitedForEver,
  type Hit,
  type Run,
  type RunRules,
} from './goals.ts';
import { HuntError, type HuntSettings } from './options.ts';
import { search, type Found, type Looked, type Round } from './search.ts';
import { findOf, type Find } from './story.ts';
import { toPaise } from '../../payout/money.ts';
import { often, rupees, summed } from '../../referee/payments.ts';
import { paidIn, tableFault, timesByAccount } from '../run-money.ts';
import { firstDifference, traceOf } from './trace.ts';
import { WorldRuns, type Client, type OpenJoinedRun } from './world-runs.ts';

/** The progress of a hunt. */
export interface Progress {
  readonly runs: number;
  readonly elapsedMs: number;
  readonly round: Round;
  readonly finds: readonly Find[];
}

export interface HuntResult {
  /** At most one for each goal, in the order in which they were found. */
  readonly finds: readonly Find[];
  /** What was found, and is among the known findings. */
  readonly known: readonly Find[];
  /** Accounts that the client pays the same amount several times without any failure, as sentences. */
  readonly paidSeveralTimes: readonly string[];
  /** Goals that were reached once, but not again under the same failures. */
  readonly unsteady: readonly Hit[];
  /** How much of the search was done, for each number of failures. */
  readonly rounds: readonly Round[];
  /** All runs, including the calm ones and those that repeated a find. */
  readonly runs: number;
  readonly elapsedMs: number;
}

export interface HuntParts {
  readonly sandbox: Sandbox;
  /** How payouts settle unless the scenario says otherwise. */
  readonly settlement: NonNullable<ScenarioInput['settlement']>;
  readonly client: Client;
  /** For a client that is a process, and may start sandboxes itself. */
  readonly openJoined?: OpenJoinedRun;
  /** Findings that are already accepted. */
  readonly known?: readonly KnownFinding[];
  /** The name of the table of expected payouts in messages. */
  readonly tableName?: string;
  readonly wallClock: WallClock;
  /** Ends the hunt early. */
  readonly stop?: AbortSignal;
  readonly onFind?: (find: Find) => void;
  readonly onRun?: (progress: Progress) => void;
}

/** A finding of an earlier hunt: its goal, and the names of its failures. */
export interface KnownFinding {
  readonly goal: string;
  readonly failures: readonly string[];
}

/** How long a run may take, given how long the calm runs took: enough for a client that waits out every failure. */
const limitMs = (calmMs: number, failures: number, patienceMs: number): number =>
  3 * calmMs + (failures + 1) * patienceMs;

const NO_REQUEST = 'no request came with the key of the run: does the client use its url and its key?';

/** @throws HuntError for a client that cannot be hunted */
function checkCalm({ ending, evidence: { requests, evicted } }: Run): void {
  const isSilent = requests.length === 0;
  if (ending.kind === 'failure') {
    const why = `${failureText(ending)}${isSilent ? `; ${NO_REQUEST}` : ''}`;
    throw new HuntError(`without any failure the client must succeed, but it failed: ${why}`);
  }
  if (ending.kind === 'stuck') {
    throw new HuntError('without any failure the client must end in time, and it did not');
  }
  if (isSilent) throw new HuntError(NO_REQUEST);
  if (evicted > 0) throw new HuntError('the client sends more requests in one run than the journal holds');
}

/** The standard for every run. Without a table of expected payouts, the calm run sets what is to be paid. */
function standardOf(
  { goals, intent, off, expect: table, patience }: HuntSettings,
  { evidence }: Run,
): RunRules {
  const expect = [...(table === undefined ? paidIn([evidence]) : summed(table))];
  return {
    goals,
    patienceMs: patience,
    settings: {
      ...(intent !== undefined && { intent }),
      ...(off !== undefined && { off }),
      expect,
      limits: { ...USUAL_LIMITS, patience },
    },
    mostTimes: table === undefined ? timesByAccount(expect) : null,
  };
}

function lookAt(run: Run, standard: RunRules): Looked {
  const facts = caseOf(run.evidence, standard.settings);
  return {
    trace: traceOf(facts),
    requests: facts.calls.map(requestLine),
    hits: hitsIn(run, standard),
    waitedForEver: waitedForEver(facts, standard.patienceMs),
  };
}

/**
 * Searches for the fewest failures of the service under which a client pays twice, loses a payout, gets stuck or
 * breaks a rule of the referee.
 *
 * @throws HuntError when the client fails without any failure, sends nothing, does not do the same in two runs, or does
 * not pay what the settings expect
 */
export async function runHunt(settings: HuntSettings, parts: HuntParts): Promise<HuntResult> {
  const { goals, depth, seed, workers, time: timeMs, patience: patienceMs } = settings;
  const {
    sandbox,
    settlement,
    client,
    openJoined,
    known: accepted = [],
    tableName = 'expect',
    wallClock,
    stop = new AbortController().signal,
    onFind,
    onRun,
  } = parts;
  const beganMs = wallClock.nowMs();
  const elapsedMs = (): number => wallClock.nowMs() - beganMs;
  const worlds = new WorldRuns(sandbox, client, wallClock, stop, openJoined);
  const alphabet = new Alphabet(patienceMs);
  const base = await worlds.baseScenario(settlement, seed);
  const finds: Find[] = [];
  const knownFinds = new Map<KnownFinding, Find>();
  const unsteady: Hit[] = [];
  const rounds: Round[] = [];
  const result = () => ({
    finds,
    known: [...knownFinds.values()],
    unsteady,
    rounds,
    runs: worlds.count,
    elapsedMs: elapsedMs(),
  });

  const [calm, again] = [await worlds.run(base, timeMs), await worlds.run(base, timeMs)];
  if (stop.aborted) return { ...result(), paidSeveralTimes: [] };
  for (const run of [calm, again]) checkCalm(run);
  const standard = standardOf(settings, calm);
  const calmLooked = lookAt(calm, standard);
  const difference = firstDifference(calmLooked.trace, lookAt(again, standard).trace);
  if (difference !== null) {
    throw new HuntError(
      `the client is not deterministic enough: of two runs without failures, ${difference}`,
    );
  }
  const { tooMuch, tooLittle } = differencesIn(calm, standard);
  const differences = [...tooMuch, ...tooLittle];
  if (settings.expect !== undefined && differences.length > 0) {
    throw new HuntError(tableFault(tableName, differences));
  }
  const calmMs = Math.max(calm.durationMs, again.durationMs);

  const acceptedAs = (goal: Goal, failures: readonly Failure[]): KnownFinding | undefined => {
    const names = new Set(failures.map(failureName));
    return accepted.find((one) => one.goal === goal && one.failures.every((name) => names.has(name)));
  };
  const onFound = (found: Found): void => {
    const find = findOf(found, standard.settings.expect, alphabet, base);
    const known = acceptedAs(found.goal, found.failures);
    if (known !== undefined) {
      if (!knownFinds.has(known)) knownFinds.set(known, find);
      return;
    }
    finds.push(find);
    onFind?.(find);
  };
  const look = async (failures: readonly Failure[]): Promise<Looked> => {
    stop.throwIfAborted();
    const limit = limitMs(calmMs, failures.length, patienceMs);
    const run = await worlds.run(alphabet.scenario(base, failures), limit);
    stop.throwIfAborted(); // it was ended because the hunt was stopped
    onRun?.({ runs: worlds.count, elapsedMs: elapsedMs(), round: rounds.at(-1)!, finds });
    return lookAt(run, standard);
  };
  for (const hit of calmLooked.hits) {
    onFound({ ...hit, failures: [], requests: calmLooked.requests });
  }
  try {
    await search(calmLooked, {
      alphabet,
      goals: goals.filter((goal) => !finds.some((find) => find.goal === goal)),
      depth,
      seed,
      workers,
      look,
      mayGoOn: () => worlds.count < settings.runs && elapsedMs() < timeMs,
      onFound,
      onUnsteady: (hit) => void unsteady.push(hit),
      isKnown: (goal, failures) => acceptedAs(goal, failures) !== undefined,
      rounds,
    });
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  const several =
    settings.expect === undefined && settings.intent === undefined ? standard.settings.expect : [];
  const paidSeveralTimes = several
    .filter(({ times }) => times > 1)
    .map(({ account, amount, times }) => `${account} is paid ${rupees(toPaise(amount))} ${often(times)}`);
  return { ...result(), paidSeveralTimes };
}
