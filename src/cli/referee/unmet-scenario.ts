import type { Evidence } from '../../referee/case.ts';
import type { Scenario } from '../../scenario/scenario.ts';

/** What a chosen scenario does to requests, and whether any request met it. */

/** Whether the journal still has every request of its world, which are numbered from 1. */
const isWhole = ({ requests }: Evidence): boolean => requests.every(({ id }) => id <= requests.length);

/**
 * Says that no request met a rule, an outcome or the rate limit of a scenario; null where one did, where the scenario has none, and
 * where that is not known.
 *
 * @param worlds those that are left, with or without requests
 * @param judged how many worlds have a report: also those that were dropped or reset
 */
export function unmetNote(
  { name, rules, outcomes, hasOwnRateLimit }: Scenario,
  worlds: readonly Evidence[],
  judged: number,
): string | null {
  const prefix = `${name}/`;
  const hasOwn = (parts: readonly { readonly id: string }[]): boolean =>
    parts.some(({ id }) => id.startsWith(prefix));
  if (!hasOwn(rules) && !hasOwn(outcomes) && !hasOwnRateLimit) return null;
  const used = worlds.filter(({ requests }) => requests.length > 0);
  const isMet = used.some(({ requests }) =>
    requests.some(
      ({ rule, planned_by: planner, limit, code }) =>
        code === 'INSUFFICIENT_BALANCE' || // its wallet
        rule?.startsWith(prefix) ||
        planner?.startsWith(prefix) ||
        limit === `rate_limit of ${name}`,
    ),
  );
  if (isMet || used.length === 0 || used.length < judged || !used.every(isWhole)) return null;
  return `no request met a rule, an outcome or the rate limit of the scenario ${name}, so none of that was tested`;
}
