import type { Match, RouteName } from '../../contract/match.ts';
import { MAX_AMOUNT_INR } from '../../contract/service.ts';
import type { Report } from '../planned-timeline.ts';
import { possibleRoutes } from '../rule-compiler.ts';

type NumberMatch = NonNullable<Match['amount']>;

/** How many whole numbers from 1 on match a condition. */
function wholeNumbers(match: NumberMatch): number {
  if (typeof match === 'number' || Array.isArray(match)) {
    return new Set([match].flat().filter((value) => Number.isInteger(value) && value >= 1)).size;
  }
  const { gt = 0, gte = 1, lt = Infinity, lte = Infinity } = match;
  const low = Math.max(1, Math.floor(gt) + 1, Math.ceil(gte));
  const high = Math.min(Math.ceil(lt) - 1, Math.floor(lte));
  return Math.max(0, high - low + 1);
}

/** Whether a payout can have an amount that matches a condition. */
function takesAmounts(match: NumberMatch): boolean {
  if (typeof match === 'number' || Array.isArray(match)) {
    return [match]
      .flat()
      .some((inr) => inr > 0 && inr <= MAX_AMOUNT_INR && Math.abs(inr * 100 - Math.round(inr * 100)) < 1e-4);
  }
  const { gt = 0, gte = 0, lt = Infinity, lte = Infinity } = match;
  return Math.min(lt, lte) > 0 && Math.max(gt, gte) <= MAX_AMOUNT_INR && gt < MAX_AMOUNT_INR;
}

/** Warns of conditions on numbers that no request has. */
export function warnOfNumbers({ amount, attempt, payout }: Match, warn: Report): void {
  for (const [field, wanted] of Object.entries({ attempt, payout })) {
    if (wanted !== undefined && wholeNumbers(wanted) === 0)
      warn([field], 'can never match: it is a whole number, counted from 1');
  }
  if (amount !== undefined && !takesAmounts(amount)) {
    warn(
      ['amount'],
      `can never match: an amount is more than 0 INR, at most ${MAX_AMOUNT_INR}, in whole paise`,
    );
  }
}

const named = (wanted: Match['client_ref_id']): number =>
  typeof wanted === 'string' ? 1 : Array.isArray(wanted) ? new Set(wanted).size : Infinity;

/** How many references a match can match on one route, as attempts count them. */
function mostReferences({ client_ref_id, payout }: Match, route: RouteName): number {
  if (route === 'balance') return 1; // all balance reads count as attempts of one reference
  const byNumber = payout === undefined ? Infinity : wholeNumbers(payout);
  const byTxnId = client_ref_id === undefined && route === 'status'; // reads by txn_id are counted separately
  return Math.min(named(client_ref_id), byNumber * (byTxnId ? 2 : 1));
}

/** The most requests of one world that a match can ever match: Infinity unless its numbers bound them. */
export function mostRequests(match: Match): number {
  const attempts = match.attempt === undefined ? Infinity : wholeNumbers(match.attempt);
  return possibleRoutes(match).reduce(
    (sum, route) => sum + (attempts === 0 ? 0 : attempts * mostReferences(match, route)),
    0,
  );
}
