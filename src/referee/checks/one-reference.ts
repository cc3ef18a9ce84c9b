import { InitiateRequest } from '../../contract/service.ts';
import { overlaps, totalOf, type Call } from '../call.ts';
import { inGroups } from '../case.ts';
import { evaluateEach, type Check } from '../check.ts';
import { knownBefore, type Knowledge } from '../knowledge.ts';
import { madeOrPaid } from '../payments.ts';

/** Checks of one reference that is sent more than once. */

/** The fields that make a payout what it is, apart from its reference. */
const FIELDS = Object.keys(InitiateRequest.omit({ client_ref_id: true }).shape);

/** The fields in which two initiates differ. A body that could not be read has none. */
const changedFields = ({ body: one }: Call, { body: other }: Call): readonly string[] =>
  Object.keys(one).length === 0 || Object.keys(other).length === 0
    ? []
    : FIELDS.filter((field) => (one[field] ?? null) !== (other[field] ?? null));

/** How many sends before one are compared with it. */
const LATEST = 50;

/** The first of the latest sends that was still under way when this one began. */
const underWayAt = (calls: readonly Call[], index: number): Call | undefined =>
  calls.slice(Math.max(index - LATEST, 0), index).find((earlier) => overlaps(earlier, calls[index]!));

export const sameReferenceAtOnce: Check = {
  severity: 'error',
  isOfOnePayout: true,
  *evaluate(facts) {
    const out = yield* inGroups(facts.paid, ({ reference }) => reference);
    return yield* evaluateEach(facts.sends, ([reference, calls]) => {
      if (calls.length < 2) return undefined;
      const nth = calls.findIndex((_later, index) => underWayAt(calls, index) !== undefined);
      if (nth === -1) return null;
      const pair = [underWayAt(calls, nth)!, calls[nth]!];
      const paid = out.get(reference) ?? [];
      const made = calls.filter(({ committed }) => committed === true);
      const isPaidTwice = made.length > 1 && paid.length > 1;
      return {
        severity: isPaidTwice ? 'error' : 'warning',
        message: `${reference} was sent while it was still under way${isPaidTwice ? `, and was ${madeOrPaid(paid)} more than once` : ''}`,
        fix: facts.paysAgain
          ? 'this service pays again for a repeated reference: wait until the request has ended, and read the status, before any other send'
          : 'wait until the request has ended, or abort it, before the same reference is sent again',
        calls: isPaidTwice ? made : pair,
        amountPaise: isPaidTwice ? totalOf(paid.slice(1)) : null,
      };
    });
  },
};

/** What to do instead of sending a reference with other fields, for a client that knew this of it. */
function fixForChanged(reference: string, changed: readonly string[], known: Knowledge): string {
  if (known.of === 'SUCCESS') return `${reference} is paid: use a new reference only for another payout`;
  if (known.of === 'FAILED' || known.of === 'REVERSED')
    return 'use a new reference for each new payout, and the same body whenever one is sent again';
  return `read the status of ${reference} first; send another ${changed.join(', ')} only after a refusal, FAILED or REVERSED, under a new reference`;
}

export const referenceReused: Check = {
  severity: 'error',
  isOfOnePayout: true,
  evaluate: ({ sends, byReference }) =>
    evaluateEach(sends, ([reference, calls]) => {
      if (calls.length < 2) return undefined;
      for (const [index, call] of calls.entries()) {
        const before = calls[index - 1];
        const changed = before === undefined ? [] : changedFields(before, call);
        if (changed.length === 0) continue;
        const known = knownBefore(byReference.get(reference)!, call);
        if (known.of === 'refused' && underWayAt(calls, index) === undefined) continue; // a request that was corrected
        return {
          message: `${reference} was sent again with another ${changed.join(', ')}`,
          fix: fixForChanged(reference, changed, known),
          calls: [before!, call],
          knew: [reference, known],
          amountPaise: call.amountPaise,
        };
      }
      return null;
    }),
};

export const resentAfterSuccess: Check = {
  severity: 'warning',
  evaluate: ({ sends, byReference }) =>
    evaluateEach(byReference, ([reference, calls]) => {
      const saw = calls.find(({ seen }) => seen.kind === 'state' && seen.state === 'SUCCESS');
      if (saw === undefined) return undefined;
      const ofReference = sends.get(reference) ?? [];
      const again = ofReference.find(
        (call, index) =>
          call.id > saw.id &&
          knownBefore(calls, call).of === 'SUCCESS' &&
          (index === 0 || changedFields(ofReference[index - 1]!, call).length === 0),
      );
      if (again === undefined) return null;
      return {
        message: `${reference} was sent again after its SUCCESS was seen`,
        fix: 'store the outcome of each payout with its reference, and check it before every send',
        calls: [saw, again],
        knew: [reference, knownBefore(calls, again)],
      };
    }),
};
