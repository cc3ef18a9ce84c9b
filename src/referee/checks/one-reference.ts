import { overlaps, type Call } from '../call.ts';
import { type Check, type Found } from '../check.ts';
import { knownBefore } from '../knowledge.ts';

/** Checks of one reference that is sent more than once. */

const wasSentAgain = (sends: readonly Call[]): boolean => sends.length > 1;

/** The fields that make a payout what it is, apart from its reference. */
const FIELDS = [
  'beneficiary_name',
  'beneficiary_account',
  'beneficiary_ifsc',
  'amount',
  'transfer_mode',
  'remarks',
];

/** The fields in which two initiates differ. A body that could not be read has none. */
const changedFields = ({ body: one }: Call, { body: other }: Call): readonly string[] =>
  Object.keys(one).length === 0 || Object.keys(other).length === 0
    ? []
    : FIELDS.filter((field) => (one[field] ?? null) !== (other[field] ?? null));

export const sameReferenceAtOnce: Check = {
  id: 'same-reference-at-once',
  severity: 'error',
  evaluate({ sends }) {
    const findings: Found[] = [];
    for (const [reference, calls] of sends) {
      const pair = calls.flatMap((later, index) => {
        const earlier = calls.slice(Math.max(index - 50, 0), index).find((call) => overlaps(call, later));
        return earlier === undefined ? [] : [[earlier, later] as const];
      })[0];
      if (pair === undefined) continue;
      const paid = calls.filter(({ committed }) => committed === true);
      const isPaidTwice = paid.length > 1;
      findings.push({
        severity: isPaidTwice ? 'error' : 'warning',
        message: `${reference} was sent while it was still under way${isPaidTwice ? ', and was paid more than once' : ''}`,
        fix: 'wait until the request has ended, or abort it, before the same reference is sent again',
        calls: isPaidTwice ? paid : pair,
        amountPaise: isPaidTwice
          ? paid.slice(1).reduce((sum, call) => sum + (call.amountPaise ?? 0), 0)
          : null,
      });
    }
    return { isExercised: [...sends.values()].some(wasSentAgain), findings };
  },
};

export const referenceReused: Check = {
  id: 'reference-reused',
  severity: 'error',
  evaluate({ sends, byReference }) {
    const findings: Found[] = [];
    for (const [reference, calls] of sends) {
      for (const [index, call] of calls.entries()) {
        const before = calls[index - 1];
        if (before === undefined) continue;
        const changed = changedFields(before, call);
        if (changed.length === 0) continue;
        const known = knownBefore(byReference.get(reference)!, call);
        const wasUnderWay = calls.slice(0, index).some((earlier) => overlaps(earlier, call));
        if (known.of === 'refused' && !wasUnderWay) continue; // a request that was corrected
        findings.push({
          message: `${reference} was sent again with another ${changed.join(', ')}`,
          fix: 'use a new reference for each new payout, and the same body whenever one is sent again',
          calls: [before, call],
          knew: [reference, known],
          amountPaise: call.amountPaise,
        });
        break;
      }
    }
    return { isExercised: [...sends.values()].some(wasSentAgain), findings };
  },
};

export const resentAfterSuccess: Check = {
  id: 'resent-after-success',
  severity: 'warning',
  evaluate({ sends, byReference }) {
    const findings: Found[] = [];
    let isExercised = false;
    for (const [reference, calls] of byReference) {
      const success = calls.find(({ seen }) => seen.kind === 'state' && seen.state === 'SUCCESS');
      if (success === undefined) continue;
      isExercised = true;
      const ofReference = sends.get(reference) ?? [];
      const again = ofReference.find(
        (call, index) =>
          call.place > success.place &&
          knownBefore(calls, call).of === 'SUCCESS' &&
          (index === 0 || changedFields(ofReference[index - 1]!, call).length === 0),
      );
      if (again === undefined) continue;
      findings.push({
        message: `${reference} was sent again after its SUCCESS was seen`,
        fix: 'store the outcome of a payout with its reference, and look there before it is sent',
        calls: [success, again],
        knew: [reference, knownBefore(calls, again)],
      });
    }
    return { isExercised, findings };
  },
};
