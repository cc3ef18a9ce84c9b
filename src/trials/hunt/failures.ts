import type { ScenarioInput } from '../../contract/control.ts';

/** A place in a run: a request of the client, or the outcome of one of its payouts. */
export interface Position {
  readonly of: 'initiate' | 'status' | 'balance' | 'outcome';
  /** Which new reference of the world it is about, counted from 1; 1 for a balance. */
  readonly payout: number;
  /** Which attempt of that reference on this route it is, or which read of the balance, counted from 1; 1 for an outcome. */
  readonly attempt: number;
}

export interface Failure {
  readonly position: Position;
  readonly kind: string;
}

type Rule = NonNullable<ScenarioInput['rules']>[number];
type Outcome = NonNullable<ScenarioInput['outcomes']>[number];

/** What a kind of failure does, and the rest of a sentence about it that begins with the request or the payout. */
interface Kind<Does> {
  readonly words: string;
  readonly does: Does;
  /** Set for those that rarely have other effects than another kind: a search tries them after all others. */
  readonly isLater?: true;
}
type Kinds<Does> = Readonly<Record<string, Kind<Does>>>;

/** The failure that lasts as long as the client waits. */
export const HANG = 'hang';
/** The length of a hang, relative to the client's patience. */
const PAST_PATIENCE = 1.1;
/** A slow payout waits for reads, not for time, so that a run does not depend on its speed. */
const SLOW_READS = 4;
/** The outcome that lasts as long as the client asks. */
export const PENDING = 'pending';

const usual = <Does>(words: string, does: Does): Kind<Does> => ({ words, does });
const later = <Does>(words: string, does: Does): Kind<Does> => ({ words, does, isLater: true });

const OUTCOMES: Kinds<Outcome['timeline']> = {
  failed: usual('becomes FAILED', [{ to: 'FAILED', after: '0s' }]),
  slow: usual(`stays PENDING until its status is read for the ${SLOW_READS}th time`, [
    { to: 'SUCCESS', polls: SLOW_READS },
  ]),
  'failed-late': later('becomes FAILED when its status is read for the 2nd time', [
    { to: 'FAILED', polls: 2 },
  ]),
  reversed: later('becomes REVERSED, and was never a SUCCESS', [{ to: 'REVERSED', after: '0s' }]),
  'reversed-late': later('becomes SUCCESS, and REVERSED at the next read', [
    { to: 'SUCCESS', polls: 1 },
    { to: 'REVERSED', polls: 2 },
  ]),
  [PENDING]: later('stays PENDING until the client ends', []),
};

/** The failure that only a command has: its processes are killed while it waits for the response. */
export const KILL = 'kill';
/** An error that some clients take for a payment, since they look at the status only. */
const WITH_ERROR = { status: 200, body: { status: 'error', message: 'The request could not be processed' } };

type Effects = Kinds<Rule['effect']>;

/** Responses that do not tell a client what became of its request. */
const UNKNOWN: Effects = {
  'error-500': usual('gets a 500', { respond: { status: 500 } }),
  // of a gateway: some clients take it for "not made", unlike a 500
  'error-504': usual('gets a 504', {
    respond: { status: 504, headers: { 'content-type': 'text/html' }, body: '504 Gateway Time-out' },
  }),
  reset: usual('loses its connection', { fault: 'connection-reset' }),
  truncated: usual('gets only a part of its response', { fault: 'truncated-body' }),
  [HANG]: usual('gets no response', { fault: HANG }),
  'error-200-made': later('gets a 200 with an error in its body', { respond: WITH_ERROR }),
};

const ALTHOUGH_MADE: Effects = Object.fromEntries(
  Object.entries(UNKNOWN).map(([kind, { words, does, ...rest }]) => [
    kind,
    { ...rest, words: `${words}, although the payout was made`, does: { commit: true, ...does } },
  ]),
);

/** The failures of requests, by their routes. A hang is as long as the client waits, and somewhat longer. */
const REQUESTS: Readonly<Record<'initiate' | 'status' | 'balance', Effects>> = {
  initiate: {
    ...ALTHOUGH_MADE,
    'not-made': usual('loses its connection before the payout is made', {
      commit: false,
      fault: 'connection-reset',
    }),
    'error-200': later('gets a 200 with an error in its body, and no payout is made', {
      commit: false,
      respond: WITH_ERROR,
    }),
    [KILL]: later('kills the client once the payout was made, and the client is run again', {
      commit: true,
      hold: 'committed',
    }),
    'made-later': later('loses its connection, and the payout is made after the next request', {
      commit: { after_requests: 1 },
      fault: 'connection-reset',
    }),
    // so that a client that obeys it does not slow the hunt down
    'error-429': usual('gets a 429, and no payout is made', {
      respond: { status: 429, headers: { 'retry-after': '0' } },
    }),
  },
  status: {
    'error-404': usual('gets a 404', { respond: { status: 404 } }),
    stale: usual('shows the payout as it was when it was made', { stale: '3650d' }),
    'error-500': UNKNOWN['error-500']!,
    [HANG]: UNKNOWN[HANG]!,
  },
  balance: { stale: later('shows the balance as it was before any payout', { stale: '3650d' }) },
};

/** The failures of a repetition. */
const REPETITIONS: Effects = Object.fromEntries(
  [400, 409, 422].map((status) => [
    `refused-${status}`,
    later(`is refused with a ${status}`, { commit: false, respond: { status } }),
  ]),
);

/** `1-initiate-2`: the same for the same position. */
export const positionKey = ({ of, payout, attempt }: Position): string =>
  of === 'outcome' ? `${payout}-outcome` : `${payout}-${of}-${attempt}`;

/** `initiate of payout 1, attempt 2` */
export const positionText = ({ of, payout, attempt }: Position): string =>
  of === 'outcome'
    ? `payout ${payout}`
    : `${of}${of === 'balance' ? '' : ` of payout ${payout}`}, attempt ${attempt}`;

/** `payout-1-initiate-2-hang`: a name for a rule. */
const failureName = ({ position, kind }: Failure): string => `payout-${positionKey(position)}-${kind}`;

function kindsAt({ of, attempt }: Position): Kinds<unknown> {
  if (of === 'outcome') return OUTCOMES;
  return of === 'initiate' && attempt > 1 ? { ...REQUESTS.initiate, ...REPETITIONS } : REQUESTS[of];
}

/** @param mayKill whether the client is a command that can be killed and run again */
export const failuresAt = (position: Position, mayKill: boolean): readonly Failure[] =>
  Object.keys(kindsAt(position))
    .filter((kind) => kind !== KILL || mayKill)
    .map((kind) => ({ position, kind }));

export const isLater = ({ position, kind }: Failure): boolean => kindsAt(position)[kind]!.isLater === true;

/** `initiate of payout 1, attempt 1 gets a 500, although the payout was made` */
export const failureText = ({ position, kind }: Failure): string =>
  `${positionText(position)} ${kindsAt(position)[kind]!.words}`;

/** A scenario with these failures before its own rules and outcomes. @param patienceMs how long a client may wait for a response */
export function withFailures(
  base: ScenarioInput,
  failures: readonly Failure[],
  patienceMs: number,
): ScenarioInput {
  const hang = { kind: HANG, for: `${Math.ceil(patienceMs * PAST_PATIENCE)}ms` } as const;
  const rules: Rule[] = [];
  const outcomes: Outcome[] = [];
  for (const failure of failures) {
    const { position, kind } = failure;
    const { of: route, payout, attempt } = position;
    const name = failureName(failure);
    if (route === 'outcome') {
      outcomes.push({ name, match: { payout }, timeline: OUTCOMES[kind]!.does });
      continue;
    }
    const does = kindsAt(position)[kind]!.does as Rule['effect'];
    const effect = does.fault === HANG ? { ...does, fault: hang } : does;
    const which = route === 'balance' ? { skip: attempt - 1, times: 1 } : {};
    const about = route === 'balance' ? {} : { payout, attempt };
    rules.push({ name, match: { route, ...about }, ...which, effect });
  }
  return {
    ...base,
    ...(outcomes.length > 0 && { outcomes: [...outcomes, ...(base.outcomes ?? [])] }),
    ...(rules.length > 0 && { rules: [...rules, ...(base.rules ?? [])] }),
  };
}
