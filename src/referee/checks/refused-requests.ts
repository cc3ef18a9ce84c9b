import { isWholePaise } from '../../contract/service.ts';
import { overlaps, type Call } from '../call.ts';
import { inGroups, type Case } from '../case.ts';
import { evaluateEach, GUESSED, type Check, type Mistake } from '../check.ts';
import { withoutReference } from '../intents.ts';
import { indexWhere, knownBefore } from '../knowledge.ts';
import { inSteps, type Steps } from '../../world/steps.ts';
import { pauseBetween, payoutName } from './retries.ts';

/** Checks of requests that the service refuses. */

/** Statuses after which the same request will be refused again. */
const PERMANENT: ReadonlySet<number | null> = new Set([400, 401, 403, 413, 415, 422]);

/** Codes for a reference that was used before, so its first payout may exist. */
const DUPLICATE: ReadonlySet<string | null> = new Set([
  'DUPLICATE_REFERENCE',
  'REFERENCE_CONFLICT',
  'REFERENCE_REUSED',
]);

const bodyText = ({ entry: { request } }: Call): string =>
  JSON.stringify([request.headers['content-type'] ?? null, request.body]);

/** Whether a refusal may be about the reference, so that another one is a correction. */
const isAboutReference = ({ entry: { answer } }: Call): boolean =>
  JSON.stringify(answer?.body ?? null).includes('client_ref_id');

const fix = ({ status, reference, committed }: Call): string =>
  committed === true
    ? `the service refused ${reference} with ${status}, and paid it all the same: read its status before another send`
    : `do not repeat what is refused with ${status}: correct the request, or report it`;

/** Whether an initiate is refused for what it is, whenever it is sent. */
function isRefusedForGood({ byReference }: Case, call: Call): boolean {
  if (!PERMANENT.has(call.status) || DUPLICATE.has(call.entry.code)) return false;
  if (call.reference === null) return true;
  const { of } = knownBefore(byReference.get(call.reference)!, call);
  return of === 'nothing' || of === 'refused'; // otherwise it may refuse the duplicate
}

const nameOf = ({ reference }: Call): string => reference ?? 'a request';

/** The same bytes again after a refusal: one finding for each body. */
function* sentUnchanged({ initiates }: Case, refused: ReadonlySet<Call>): Steps<readonly Mistake[]> {
  const alike = yield* inGroups(initiates, bodyText);
  return [...alike.values()].flatMap((calls): Mistake | [] => {
    const before = calls.find((call) => refused.has(call));
    const again = calls.find((call) => before && call.id > before.id && !overlaps(before, call));
    if (before === undefined || again === undefined) return [];
    const message = `${nameOf(again)} was sent again unchanged after a ${before.status}`;
    return { message, fix: fix(before), calls: [before, again] };
  });
}

/** A refused payout again under another reference. A refusal that is about the reference asks for another one. */
function* sentAsAnother({ initiates, intents }: Case, refused: ReadonlySet<Call>): Steps<readonly Mistake[]> {
  const { isDeclared } = intents;
  const findings: Mistake[] = [];
  const latest = new Map<string, Call>();
  yield* inSteps(initiates, (call) => {
    const payout = isDeclared ? `${intents.of(call)} ${withoutReference(call.body)}` : intents.of(call)!;
    const before = latest.get(payout);
    if (before !== undefined && before.reference !== call.reference && !overlaps(before, call)) {
      latest.delete(payout);
      findings.push({
        severity: isDeclared ? 'warning' : 'notice',
        message: `${nameOf(call)} repeats what was refused as ${nameOf(before)} with ${before.status}${isDeclared ? '' : GUESSED}`,
        fix: fix(before),
        calls: [before, call],
      });
    }
    if (refused.has(call) && !isAboutReference(call)) latest.set(payout, call);
  });
  return findings;
}

const WITHIN_MS = 60_000;

/**
 * Whether money came into the wallet between two requests. Their balances show it. Where they have none, or other payouts
 * took as much, the ledger does; its times may be those of a frozen clock.
 */
function wasFunded({ moneyIn }: Case, before: Call, after: Call): boolean {
  const [had, has] = [before.entry.balance_after, after.entry.balance_before];
  if (had !== null && has !== null && has > had) return true;
  const fromMs = had === null || has === null ? before.atMs : before.atMs + 1;
  const next = moneyIn[indexWhere(moneyIn, ({ at }) => Date.parse(at) >= fromMs)];
  return next !== undefined && Date.parse(next.at) <= after.atMs;
}

/** A payout that the balance did not cover, sent again although nothing says that it does now. */
function* sentUnfunded(facts: Case): Steps<readonly Mistake[]> {
  const reads = facts.calls.filter(({ seen }) => seen.kind === 'balance');
  const coversIt = (before: Call, after: Call): boolean => {
    const between = reads.slice(
      indexWhere(reads, ({ id }) => id > before.id),
      indexWhere(reads, ({ id }) => id >= after.id),
    );
    return between.some(({ seen }) => seen.kind === 'balance' && seen.paise >= (after.amountPaise ?? 0));
  };
  const isUnfunded = (refused: Call, again: Call | undefined): again is Call =>
    again !== undefined &&
    refused.status === 402 &&
    !refused.entry.replayed && // the response of an earlier time
    !overlaps(refused, again) &&
    pauseBetween(facts, refused, again) < WITHIN_MS &&
    !coversIt(refused, again) &&
    !wasFunded(facts, refused, again);
  const found = yield* inSteps(facts.tries.values(), (calls): Mistake | null => {
    const index = calls.findIndex((refused, nth) => isUnfunded(refused, calls[nth + 1]));
    if (index === -1) return null;
    const pair = calls.slice(index, index + 2);
    return {
      message: `${payoutName(pair)} was sent again after a 402, with no money added and no balance seen that covers it`,
      fix: 'after a 402 read the balance, and send again only when it covers the payout',
      calls: pair,
    };
  });
  return found.filter((one) => one !== null);
}

export const refusalRepeated: Check = {
  severity: 'warning',
  *evaluate(facts) {
    const { initiates } = facts;
    const marks = yield* inSteps(initiates, (call) => (isRefusedForGood(facts, call) ? call : null));
    const refused = new Set(marks.filter((call) => call !== null));
    const findings = [
      ...(yield* sentAsAnother(facts, refused)),
      ...(yield* sentUnchanged(facts, refused)),
      ...(yield* sentUnfunded(facts)),
    ];
    const inOrder = findings.toSorted((a, b) => a.calls[1]!.id - b.calls[1]!.id);
    const isExercised = refused.size > 0 || initiates.some(({ status }) => status === 402);
    return { isExercised, findings: inOrder };
  },
};

export const amountNotPaise: Check = {
  severity: 'error',
  evaluate: ({ initiates }) =>
    evaluateEach(initiates, (call) => {
      const { amount } = call.body;
      if (amount === undefined) return undefined;
      const isText = typeof amount === 'string';
      if (!isText && (typeof amount !== 'number' || isWholePaise(amount))) return null;
      return {
        message: `${call.reference ?? 'a payout'} has the amount ${JSON.stringify(amount)}, which is ${isText ? 'a text' : 'not whole paise'}`,
        fix: 'count in whole paise, and send rupees: a JSON number with at most two decimals, such as 1500.5',
        calls: [call],
      };
    }),
};
