import { rupeesOf } from '../../payout/money.ts';
import { counted, often, shortListed } from '../../contract/words.ts';
import { withoutControls } from '../../world/journal/journal-text.ts';
import { overlaps, totalOf, wasCommitted, type Call } from '../call.ts';
import { groupedBy, inGroups, type Case, type Paid } from '../case.ts';
import { askFor, because, GUESSED, ifSeparate, type Check, type Evaluation, type Mistake } from '../check.ts';
import { indexWhere, isKnownUnpaid, knownBefore, mayBePaid, type Knowledge } from '../knowledge.ts';
import { madeOrPaid, payoutKey, sendsOf } from '../payments.ts';
import { inSteps, type Steps } from '../../world/steps.ts';
import { undoneState } from './outcomes.ts';

/** Checks of second payments: what the ledger shows was paid more than once, and one intended payout that is sent under several references. */

const tooMuch = (again: readonly Paid[]): string => `${rupeesOf(totalOf(again))} too much`;

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
      amountPaise: totalOf(again),
    };
  });
}

/** The declared payout that was paid; null when that is not known, or none is declared. */
export function declaredOf(facts: Case, one: Paid): string | null {
  if (!facts.intents.isDeclared) return null;
  const [call] = sendsOf(facts, [one]); // an earlier send may have been refused, and corrected
  return (call && facts.intents.of(call)) ?? facts.intents.ofPayout(one.payout);
}

/** The first payout of each reference. */
function* firstsOf({ paid }: Case): Steps<readonly Paid[]> {
  const groups = yield* inGroups(paid, ({ reference }) => reference);
  return Array.from(groups.values(), ([first]) => first!);
}

/** One declared payout, several references: from the ledger alone. */
function* paidByIntent(facts: Case): Steps<readonly (Mistake & { readonly references: string[] })[]> {
  const found = yield* repeated(yield* firstsOf(facts), (one) => declaredOf(facts, one));
  return yield* inSteps(found, ({ group, again }) => {
    const references = group.map(({ reference }) => reference); // also where their requests are gone
    const calls = sendsOf(facts, group);
    const denied = deniedBefore(facts, references, calls);
    const about = {
      message: `${shortListed(references)} were ${group.length === 2 ? 'both' : 'all'} ${madeOrPaid(group)}, for one payout: ${tooMuch(again)}`,
      fix: `keep one reference for each payout, and use it for every send of that payout${ifSeparate(facts)}`,
      calls,
      references,
      amountPaise: totalOf(again),
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
function* byAccount(facts: Case): Steps<Omit<Evaluation, 'isExercised'>> {
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
    if (group.every((one) => declaredOf(facts, one) !== null)) continue; // these are payouts of their own
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
      amountPaise: totalOf(again),
      parts: [], // which of them led to it, nobody can say
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

/** How many references before a send are compared with it. */
const LATEST = 50;

/** The initiate that could make the payout of a reference: the first that was not refused, or the first of all. */
const openingOf = (sends: readonly Call[]): Call =>
  sends.find(({ seen }) => seen.kind !== 'refused') ?? sends[0]!;

/** The opening initiate of each reference, by intended payout. */
function* openings({ sends, intents }: Case): Steps<ReadonlyMap<string, readonly Call[]>> {
  const all = yield* inSteps(sends.values(), openingOf);
  return yield* inGroups(
    all.toSorted((a, b) => a.id - b.id),
    intents.of,
  );
}

/** A guess counts only after an outcome that tempts a client to try again: paying one person the same amount twice is normal. */
const isSuspect = (known: Knowledge, isDeclared: boolean): boolean =>
  isDeclared ? mayBePaid(known) : known.of === 'unknown' || known.of === 'not-found';

/** A send that pays, or could pay, what an earlier reference may have paid. */
interface Repetition {
  readonly call: Call;
  readonly earlier: string;
  /** What the client knew of the earlier reference. */
  readonly known: Knowledge;
  readonly isPaidTwice: boolean;
}

/** The repetition that one of the sends of an intended payout is, compared with the latest references before it; null for none. */
function repetitionOf(facts: Case, firsts: readonly Call[], index: number): Repetition | null {
  const { byReference, sends, intents } = facts;
  const call = firsts[index]!;
  for (const { reference: earlier } of firsts.slice(Math.max(index - LATEST, 0), index).toReversed()) {
    if (sends.get(earlier!)!.some((send) => send.id < call.id && overlaps(send, call))) continue;
    const known = knownBefore(byReference.get(earlier!)!, call);
    if (!isSuspect(known, intents.isDeclared)) continue;
    const isPaidTwice = [earlier, call.reference].every((reference) => wasCommitted(sends.get(reference!)!));
    return { call, earlier: earlier!, known, isPaidTwice };
  }
  return null;
}

/** What to do instead, for a client that knew this of the earlier reference. */
function fixAfter(facts: Case, earlier: string, { of }: Knowledge): string {
  const next =
    of === 'PENDING' || of === 'SUCCESS'
      ? `read the status of ${earlier} until it is final, and pay again only after FAILED or REVERSED`
      : askFor(facts, earlier);
  return `${next}; store the reference before the first send${ifSeparate(facts)}`; // a client that stopped in between knows it no more
}

/** One finding on all repetitions of one intended payout. */
function repetitionFinding(facts: Case, all: readonly Repetition[]): Mistake {
  const { isDeclared } = facts.intents;
  const paid = all.filter(({ isPaidTwice }) => isPaidTwice);
  const shown = paid.length > 0 ? paid : all;
  const [{ earlier, known }] = shown as [Repetition];
  const references = shown.map(({ call }) => call.reference!);
  const payments = [openingOf(facts.sends.get(earlier)!), ...shown.map(({ call }) => call)];
  const isUndone = ({ reference }: Call): boolean => undoneState(facts, reference!) !== null;
  const undone = paid.length > 0 ? payments.filter(isUndone) : [];
  const out = undone.length > 0 ? payments.filter((call) => !isUndone(call)) : payments;
  const isTooMuch = paid.length > 0 && out.length > 1;
  const amountPaise = totalOf((isTooMuch ? out : payments).slice(1));
  const isOne = references.length === 1;
  const is = paid.length === 0 ? 'could be' : isOne ? 'is' : 'are';
  const what = `${isOne ? 'a second payment' : 'further payments'} of ${earlier}`;
  const money = `${rupeesOf(amountPaise)}${isTooMuch ? ' too much' : ''}`;
  const states = undone.map(({ reference }) => `${reference} is ${undoneState(facts, reference!)}`);
  const unknownTo =
    states.length === 0 ? '' : ` (${shortListed(states)}, which the client did not know then)`;
  const calls = new Set(all.flatMap(({ known: { from }, call }) => [...(from === null ? [] : [from]), call]));
  const [grave, lucky] = isDeclared ? (['error', 'warning'] as const) : (['warning', 'notice'] as const);
  return {
    severity: isTooMuch ? grave : lucky,
    message: `${shortListed(references)} ${is} ${what}: ${money}${unknownTo}${isDeclared ? '' : GUESSED}`,
    fix: fixAfter(facts, earlier, known),
    calls: [...calls].toSorted((a, b) => a.id - b.id),
    knew: [earlier, known],
    amountPaise,
  };
}

function* paidAgain(facts: Case): Steps<readonly Mistake[]> {
  const findings: Mistake[] = [];
  for (const firsts of (yield* openings(facts)).values()) {
    yield;
    const results = yield* inSteps(firsts.keys(), (index) => repetitionOf(facts, firsts, index));
    const all = results.filter((one) => one !== null);
    const groups = groupedBy(all, ({ earlier }) => earlier).values();
    const parts = Array.from(groups, (one) => repetitionFinding(facts, one));
    if (all.length > 0) findings.push({ ...repetitionFinding(facts, all), parts });
  }
  return findings;
}

const NO_INTENT =
  'no intent is declared, so another reference for the same payout is recognised only by an identical body';

/** The first sends of references that a declared intent reads, and of those that it does not. */
export function byIntent({ sends, intents }: Case): Record<'read' | 'unread', readonly Call[]> {
  const firsts = intents.isDeclared ? [...sends.values()].map(openingOf) : [];
  const sent = firsts.filter(({ seen }) => seen.kind !== 'refused');
  const isRead = (call: Call): boolean => intents.of(call) !== null;
  return { read: sent.filter(isRead), unread: sent.filter((call) => !isRead(call)) };
}

/** Why the absence of findings proves nothing; null when it proves that each intended payout was sent under one reference. */
function unprovenBy(facts: Case): string | null {
  if (!facts.intents.isDeclared) return NO_INTENT;
  const { unread } = byIntent(facts);
  if (unread.length === 0) return null;
  const references = counted(unread.length, 'reference');
  return `the intent matches nothing in ${references}, such as ${withoutControls(unread[0]!.reference!)}, whose intended payout is not known`;
}

/**
 * Names a payout that may be one that was already sent: it has the same name and amount and another account, and the earlier one was
 * not final. Only an intent by reference, or a table, says which it is.
 */
function* movedTo(facts: Case): Steps<string | null> {
  const { sends, byReference, intents, expect } = facts;
  if (expect !== undefined || (intents.isDeclared && !intents.isByField)) return null;
  const firsts = yield* inSteps(sends.values(), openingOf);
  const alike = yield* inGroups(firsts, ({ body, amountPaise }) =>
    amountPaise === null ? null : JSON.stringify([body['beneficiary_name'], amountPaise]),
  );
  const found = yield* inSteps(alike.values(), (calls) => {
    const inOrder = calls.toSorted((a, b) => a.id - b.id);
    const index = inOrder.findIndex((call, nth) => {
      const before = inOrder[nth - 1];
      if (before === undefined || before.body['beneficiary_account'] === call.body['beneficiary_account'])
        return false;
      const known = knownBefore(byReference.get(before.reference!)!, call);
      return known.of !== 'SUCCESS' && mayBePaid(known);
    });
    return index === -1 ? null : ([inOrder[index - 1]!, inOrder[index]!] as const);
  });
  const pair = found.find((one) => one !== null);
  if (!pair) return null;
  const [before, call] = pair;
  return `${call.reference} pays the same name and amount as ${before.reference} on another account, while that was not final: an intent by reference, or --expect, says whether it is the same payout`;
}

const isTempting = ({ seen }: Call): boolean => seen.kind === 'unknown';
const isNotFound = ({ seen, reference }: Call): boolean => seen.kind === 'not-found' && reference !== null;

export const paidTwice: Check = {
  severity: 'error',
  isOfOnePayout: true,
  isOfSecondPayments: true,
  *evaluate(facts) {
    const { initiates, calls, intents, expect } = facts;
    const again = intents.isDeclared || expect === undefined ? yield* paidAgain(facts) : []; // a table is better than a guess
    const forgotten = (yield* paidByIntent(facts)).filter(({ references }) =>
      references.some((reference) => !facts.sends.has(reference)),
    );
    const findings = [...again, ...forgotten];
    const moved = yield* movedTo(facts);
    const unread = expect === undefined ? unprovenBy(facts) : null;
    const unproven = because(moved, unread);
    const isUnread = moved !== null || (intents.isDeclared && unread !== null); // whatever happened, it may be one payout under two references
    return {
      isExercised:
        findings.length > 0 ||
        isUnread ||
        initiates.some(isTempting) ||
        (initiates.length > 0 && calls.some(isNotFound)),
      findings,
      unproven,
    };
  },
};

/** How many of the requests under way are compared with one that begins. */
const MOST_UNDER_WAY = 200;

export const samePayoutAtOnce: Check = {
  severity: 'error',
  isOfOnePayout: true,
  *evaluate(facts) {
    const { initiates, intents, expect } = facts;
    const isJudged = intents.isDeclared || expect === undefined; // a table is better than a guess
    let isExercised = false;
    /** By intended payout: the sends of which one was under way when another began, under another reference. */
    const atOnce = new Map<string, Set<Call>>();
    let underWay: readonly Call[] = [];
    yield* inSteps(initiates, (later) => {
      underWay = underWay.filter(({ wasLeft, endedAfter }) => wasLeft || endedAfter >= later.id);
      const intent = intents.of(later);
      for (const earlier of underWay) {
        if (earlier.reference === later.reference || !overlaps(earlier, later)) continue;
        isExercised = true;
        if (!isJudged || intent === null || intents.of(earlier) !== intent) continue;
        const calls = atOnce.get(intent) ?? new Set();
        atOnce.set(intent, calls.add(earlier).add(later));
      }
      underWay = [...underWay.slice(-MOST_UNDER_WAY), later];
    });
    const findings = yield* inSteps(atOnce.values(), (together): Mistake => {
      const [{ reference: first }] = [...together] as [Call];
      const calls = [...together].toSorted((a, b) => a.id - b.id);
      const others = groupedBy(calls, ({ reference }) => (reference === first ? null : reference));
      const references = [...others.keys()];
      const amountPaise = totalOf([...others.values()].map(([sent]) => sent!));
      return {
        severity: intents.isDeclared ? 'error' : 'notice',
        message: `${shortListed(references)} ${references.length === 1 ? 'was' : 'were'} sent for the payout of ${first} while that was under way: ${rupeesOf(amountPaise)}${intents.isDeclared ? '' : GUESSED}`,
        fix: `let one worker send one reference for each payout, and store it before the first send${ifSeparate(facts)}`,
        calls,
        amountPaise,
      };
    });
    return { isExercised, findings, unproven: isJudged ? unprovenBy(facts) : null };
  },
};
