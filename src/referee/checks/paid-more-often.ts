import { rupeesOf } from '../../payout/money.ts';
import { often, shortListed } from '../../contract/words.ts';
import { inGroups, type Case, type Paid } from '../case.ts';
import { ifSeparate, type Check, type Mistake } from '../check.ts';
import type { Call } from '../call.ts';
import { indexWhere, isKnownUnpaid, knownBefore, type Knowledge } from '../knowledge.ts';
import { madeOrPaid, payoutKey, sendsOf, sumOf } from '../payments.ts';
import { inSteps, type Steps } from '../../world/steps.ts';

/** What the ledger shows was paid more than once, however it came about. */

const tooMuch = (again: readonly Paid[]): string => `${rupeesOf(sumOf(again))} too much`;

/** The groups with more than one payout, and what of it is too much. */
function* repeated(paid: readonly Paid[], keyOf: (one: Paid) => string | null) {
  const groups = yield* inGroups(paid, keyOf);
  return [...groups.values()].flatMap((group) => (group.length > 1 ? { group, again: group.slice(1) } : []));
}

/** One reference, several payouts. */
function* byReference(facts: Case): Steps<readonly Mistake[]> {
  const found = yield* repeated(facts.paid, ({ reference }) => reference);
  return yield* inSteps(found, ({ group, again }) => {
    const [{ reference }] = group as [Paid];
    return {
      message: `${reference} was ${madeOrPaid(group)} ${often(group.length)}: ${tooMuch(again)}`,
      fix: `this service pays again for a repeated reference: read the status of ${reference} before it is sent again, and switch off what resends by itself`,
      calls: sendsOf(facts, group),
      references: [reference], // also where its requests were cleared
      amountPaise: sumOf(again),
    };
  });
}

/** The declared payout that was paid; null when that is not known. */
function intentOf(facts: Case, one: Paid): string | null {
  const [call] = sendsOf(facts, [one]); // an earlier send may have been refused, and corrected
  return (call && facts.intents.of(call)) ?? facts.intents.ofPayout(one.payout);
}

/** The first payout of each reference. */
function* firstsOf({ paid }: Case): Steps<readonly Paid[]> {
  const groups = yield* inGroups(paid, ({ reference }) => reference);
  return Array.from(groups.values(), ([first]) => first!);
}

/** One declared payout, several references: from the ledger alone. */
export function* paidByIntent(facts: Case): Steps<readonly (Mistake & { readonly references: string[] })[]> {
  if (!facts.intents.isDeclared) return [];
  const found = yield* repeated(yield* firstsOf(facts), (one) => intentOf(facts, one));
  return yield* inSteps(found, ({ group, again }) => {
    const references = group.map(({ reference }) => reference); // also where their requests are gone
    const calls = sendsOf(facts, group);
    const denied = deniedBefore(facts, references, calls);
    const about = {
      message: `${shortListed(references)} were ${group.length === 2 ? 'both' : 'all'} ${madeOrPaid(group)}, for one payout: ${tooMuch(again)}`,
      fix: `keep one reference for each payout, and use it for every send of that payout${ifSeparate(facts)}`,
      calls,
      references,
      amountPaise: sumOf(again),
    };
    if (denied === null) return about;
    const [earlier, { of, from }] = denied;
    const said = of === 'refused' ? `refused ${earlier}` : `reported ${earlier} as ${of}`;
    return {
      ...about,
      message: `${about.message}; the service ${said}, and paid it all the same`,
      fix: `wait before a payout is sent again: read the status of ${earlier} for some time, and pay again only if it stays unpaid${ifSeparate(facts)}`,
      calls: [...new Set([...calls, from!])].toSorted((a, b) => a.id - b.id),
      knew: denied,
    };
  });
}

/** The first payout of which its client knew, when it sent another one, that it was not paid, and what it knew; null for none. */
function deniedBefore(
  { byReference: calls }: Case,
  references: readonly string[],
  sends: readonly Call[],
): readonly [reference: string, Knowledge] | null {
  for (const reference of references) {
    const next = sends.find(
      (call) => call.reference !== reference && call.id > (calls.get(reference)?.[0]?.id ?? Infinity),
    );
    const known = next && knownBefore(calls.get(reference)!, next);
    if (known !== undefined && isKnownUnpaid(known)) return [reference, known];
  }
  return null;
}

/** Whether one of these payouts was made when a client was tempted to pay again: an earlier one had gone wrong, and its SUCCESS was not seen since. */
function isTempted({ byReference: calls, sends }: Case, group: readonly Paid[]): boolean {
  const firsts = group
    .flatMap(({ reference }) => sends.get(reference)?.[0] ?? [])
    .toSorted((a, b) => a.id - b.id);
  return group.some(({ reference }) => {
    const ofReference = calls.get(reference) ?? [];
    const tempting = ofReference.filter(({ seen: { kind } }) => kind === 'unknown' || kind === 'not-found');
    const made = new Set(tempting.map(({ id }) => firsts[indexWhere(firsts, (call) => call.id > id)]));
    return [...made].some((next) => next !== undefined && knownBefore(ofReference, next).of !== 'SUCCESS');
  });
}

/** One account and amount, several references: nobody has said whether that was meant, or an intent that does not match them all. */
function* byAccount(facts: Case) {
  const findings: Mistake[] = [];
  let unproven: string | null = null;
  const { isDeclared } = facts.intents;
  const why = isDeclared
    ? 'the intent does not match all of them'
    : '--intent or --expect says whether that was meant';
  const firsts = yield* firstsOf(facts);
  const judged = isDeclared ? firsts.filter((one) => sendsOf(facts, [one]).length > 0) : firsts; // others were cleared
  for (const { group, again } of yield* repeated(judged, payoutKey)) {
    yield;
    if (isDeclared && group.every((one) => intentOf(facts, one) !== null)) continue; // these are payouts of their own
    const [{ account, amountPaise }] = group as [Paid];
    const references = shortListed(group.map(({ reference }) => reference));
    const message = `a payout of ${rupeesOf(amountPaise)} to ${account} was ${madeOrPaid(group)} ${often(group.length)} (${references}): ${why}`;
    if (!isTempted(facts, group)) {
      unproven ??= message; // to pay one account twice is normal
      continue;
    }
    findings.push({
      severity: 'warning',
      message,
      fix: 'if it was one payout, keep one reference for it; if it was two, declare an intent that differs between them',
      calls: sendsOf(facts, group),
      amountPaise: sumOf(again),
    });
  }
  return { findings, unproven };
}

export const paidMoreOften: Check = {
  severity: 'error',
  isOfOnePayout: true,
  isOfSecondPayments: true,
  *evaluate(facts) {
    const { expect, paid } = facts;
    const ofReferences = yield* byReference(facts);
    const declared = yield* paidByIntent(facts);
    const others = expect === undefined ? yield* byAccount(facts) : null; // a table says it better
    const findings = [...ofReferences, ...declared, ...(others?.findings ?? [])];
    return { isExercised: paid.length > 0, findings, unproven: others?.unproven ?? null };
  },
};
