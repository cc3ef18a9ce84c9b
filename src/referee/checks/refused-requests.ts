import { isWholePaise } from '../../contract/service.ts';
import { overlaps, type Call } from '../call.ts';
import { groupedBy, isMoneyIn, type Case } from '../case.ts';
import { evaluateEach, GUESSED, type Check, type Mistake } from '../check.ts';
import { withoutReference } from '../intents.ts';
import { knownBefore } from '../knowledge.ts';
import { pauseBetween, payoutName } from './retries.ts';

/** Checks of requests that the service refuses. */

/** Statuses after which the same request will be refused again. */
const PERMANENT: ReadonlySet<number | null> = new Set([400, 401, 403, 413, 415, 422]);

/** Codes for a reference that was used before, so its first payout may exist. */
const DUPLICATE: ReadonlySet<string | null> = new Set(['DUPLICATE_REFERENCE', 'REFERENCE_CONFLICT']);

const bodyText = ({ entry: { request } }: Call): string =>
  JSON.stringify([request.headers['content-type'] ?? null, request.body]);

/** Whether a refusal may be about the reference, so that another one is a correction. */
const isAboutReference = ({ entry: { answer } }: Call): boolean =>
  JSON.stringify(answer?.body ?? null).includes('client_ref_id');

const fix = (status: number | null): string =>
  `do not repeat what is refused with ${status}: correct the request, or report it`;

/** Whether an initiate is refused for what it is, whenever it is sent. */
function isRefusedForGood({ byReference }: Case, call: Call): boolean {
  if (!PERMANENT.has(call.status) || DUPLICATE.has(call.entry.code)) return false;
  if (call.reference === null) return true;
  const { of } = knownBefore(byReference.get(call.reference)!, call);
  return of === 'nothing' || of === 'refused'; // otherwise it may refuse the duplicate
}

const nameOf = ({ reference }: Call): string => reference ?? 'a request';

/** The same bytes again after a refusal: one finding for each body. */
const sentUnchanged = ({ initiates }: Case, refused: ReadonlySet<Call>): readonly Mistake[] =>
  [...groupedBy(initiates, bodyText).values()].flatMap((calls): Mistake | [] => {
    const before = calls.find((call) => refused.has(call));
    const again = calls.find((call) => before && call.id > before.id && !overlaps(before, call));
    if (before === undefined || again === undefined) return [];
    const message = `${nameOf(again)} was sent again unchanged after a ${before.status}`;
    return { message, fix: fix(before.status), calls: [before, again] };
  });

/** A refused payout again under another reference. A refusal that is about the reference asks for another one. */
function sentAsAnother({ initiates, intents }: Case, refused: ReadonlySet<Call>): readonly Mistake[] {
  const { isDeclared } = intents;
  const findings: Mistake[] = [];
  const latest = new Map<string, Call>();
  for (const call of initiates) {
    const payout = `${isDeclared ? intents.of(call) : ''} ${withoutReference(call)}`;
    const before = latest.get(payout);
    if (before !== undefined && before.reference !== call.reference && !overlaps(before, call)) {
      latest.delete(payout);
      findings.push({
        severity: isDeclared ? 'warning' : 'notice',
        message: `${nameOf(call)} repeats what was refused as ${nameOf(before)} with ${before.status}${isDeclared ? '' : GUESSED}`,
        fix: fix(before.status),
        calls: [before, call],
      });
    }
    if (refused.has(call) && !isAboutReference(call)) latest.set(payout, call);
  }
  return findings;
}

const WITHIN_MS = 60_000;

/**
 * Whether money came into the wallet between two requests. Their balances show it. Where they have none, or other payouts
 * took as much, the ledger does; its times may be those of a frozen clock.
 */
function wasFunded({ ledger }: Case, before: Call, after: Call): boolean {
  const [had, has] = [before.entry.balance_after, after.entry.balance_before];
  if (had !== null && has !== null && has > had) return true;
  const fromMs = had === null || has === null ? before.atMs : before.atMs + 1;
  return ledger.entries.some(({ kind, at }) => {
    const atMs = Date.parse(at);
    return isMoneyIn(kind) && atMs >= fromMs && atMs <= after.atMs;
  });
}

/** A payout that the balance did not cover, sent again although nothing says that it does now. */
function sentUnfunded(facts: Case): readonly Mistake[] {
  const coversIt = (before: Call, after: Call): boolean =>
    facts.calls.some(
      ({ seen, id }) =>
        seen.kind === 'balance' && seen.paise >= (after.amountPaise ?? 0) && id > before.id && id < after.id,
    );
  return [...facts.tries.values()].flatMap((calls): Mistake | [] => {
    const pair = calls.flatMap((refused, index) => {
      const again = calls[index + 1];
      if (refused.status !== 402 || again === undefined || overlaps(refused, again)) return [];
      const isExcused =
        pauseBetween(refused, again) >= WITHIN_MS ||
        coversIt(refused, again) ||
        wasFunded(facts, refused, again);
      return isExcused ? [] : [[refused, again] as const];
    })[0];
    if (pair === undefined) return [];
    return {
      message: `${payoutName(pair)} was sent again after a 402, with no money added and no balance seen that covers it`,
      fix: 'after a 402 read the balance, and send again only when it covers the payout',
      calls: pair,
    };
  });
}

export const refusalRepeated: Check = {
  severity: 'warning',
  evaluate(facts) {
    const refused = new Set(facts.initiates.filter((call) => isRefusedForGood(facts, call)));
    const findings = [
      ...sentAsAnother(facts, refused),
      ...sentUnchanged(facts, refused),
      ...sentUnfunded(facts),
    ];
    const inOrder = findings.toSorted((a, b) => a.calls[1]!.id - b.calls[1]!.id);
    const isExercised = refused.size > 0 || facts.initiates.some(({ status }) => status === 402);
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
