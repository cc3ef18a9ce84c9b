import type { LateInitiate, Payout } from '../../contract/snapshot.ts';
import { Refusal } from '../../contract/errors.ts';
import type { LateWhen } from '../../scenario/rule.ts';
import type { CommandOf, Context } from '../commands.ts';
import type { KeptRequest } from '../journal/kept-request.ts';
import { replace, requestEvent, tell } from '../requests.ts';
import { clockFrom, nowMs } from '../state.ts';
import type { WorldState } from '../state-shape.ts';
import { futureOf, initiate } from './new-payout.ts';
import type { Plan } from './request-plan.ts';

/** Initiates that the ledger sees later than they arrive: their rule and their draws are decided at arrival, and the rest at their time. */

const MAX_LATE = 1000;

/** Has the ledger see an initiate later. @throws Refusal SANDBOX_FULL */
export function commitLater(
  state: WorldState,
  { body }: CommandOf<'initiate'>,
  request: number,
  plan: Plan,
  { after, after_requests: requestsLeft }: LateWhen,
): void {
  if (state.late.length >= MAX_LATE) {
    throw new Refusal('SANDBOX_FULL', {
      message: `In this world, ${MAX_LATE} payouts wait for a late commit, the most that can`,
      limit: `${MAX_LATE} late commits`,
    });
  }
  const dueMs = after === undefined ? null : nowMs(state) + after;
  const future = futureOf(state, body, plan);
  state.late = [...state.late, { request, dueMs, requestsLeft: requestsLeft ?? null, body, future }];
}

/** Counts a request for those that wait for later ones, and commits those that have waited long enough. */
export function countForLate(state: WorldState, request: number, context: Context): void {
  state.late = state.late.map((late) =>
    late.requestsLeft === null || late.request === request
      ? late
      : { ...late, requestsLeft: late.requestsLeft - 1 },
  );
  for (const late of state.late) {
    if (late.requestsLeft === 0) commit(state, late, nowMs(state), context);
    else if (late.requestsLeft !== null || late.request === request) recordWaiting(state, late);
  }
}

/** Records that requests wait for their late commits, and how long, where a release or an undo has replaced them. */
export function recordLate(state: WorldState): void {
  for (const late of state.late) recordWaiting(state, late);
}

function recordWaiting(state: WorldState, { request, dueMs, requestsLeft }: LateInitiate): void {
  recordCommit(state, request, { dueMs, requestsLeft, result: null });
}

/** Commits the first of those that are due. @param atMs its time */
export const commitNext = (state: WorldState, atMs: number, context: Context): void => {
  const next = state.late.find(({ dueMs }) => dueMs === atMs)!;
  commit(state, next, atMs, context);
};

/** Handles a late initiate as if it arrived now. A refusal is only in the journal, since its client has its response already. */
function commit(state: WorldState, late: LateInitiate, atMs: number, context: Context): void {
  state.late = state.late.filter((one) => one !== late);
  const { request, body } = late;
  const scenario = state.index.active;
  let made: Payout | undefined;
  let result: string;
  try {
    const future = () => late.future;
    // it gives up its own room for that of its payout
    const one = { ...context, transactionsFree: Math.max(1, context.transactionsFree) };
    const answer = atTime(state, atMs, () => initiate(state, body, request, { scenario, future }, one));
    made = answer.kind === 'payout' && !answer.replayed ? answer.payout : undefined;
    result = made === undefined ? 'repeated' : 'made';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    result = error.code;
  }
  const after = recordCommit(state, request, { dueMs: atMs, requestsLeft: null, result }, made);
  if (after !== undefined) context.events.push(requestEvent(state, after));
}

/** Records what became of an initiate that the ledger sees late. @param made its payout */
function recordCommit(
  state: WorldState,
  request: number,
  commit: NonNullable<KeptRequest['commit']>,
  made?: Payout,
): KeptRequest | undefined {
  const { pending, list } = state.requests;
  const isIt = ({ nth }: KeptRequest): boolean => nth === request;
  const before = pending.find(isIt) ?? list.findLast(isIt);
  if (before === undefined) return undefined;
  const { txnId, plannedBy } = made ?? {};
  const after = { ...before, commit, committed: made !== undefined, txnId, plannedBy };
  replace(state, after);
  if (made !== undefined) tell(state, after, made.createdAtMs); // a response may have shown it before it was made
  return after;
}

/** Does something at an earlier world time, when it was due. */
function atTime<T>(state: WorldState, atMs: number, work: () => T): T {
  const { clock } = state;
  state.clock = clockFrom(atMs, state.wallMs, 0);
  try {
    return work();
  } finally {
    state.clock = clock;
  }
}
