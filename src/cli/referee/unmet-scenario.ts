import { listed } from '../../contract/words.ts';
import type { Evidence } from '../../referee/case.ts';
import type { Scenario } from '../../scenario/scenario.ts';

/** What a chosen scenario does to requests, and whether any request met it. */

const MOST_NAMES = 3;

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
  const own = (parts: readonly { readonly id: string }[]): readonly string[] =>
    parts.filter(({ id }) => id.startsWith(prefix)).map(({ id }) => id.slice(prefix.length));
  const names = [...own(rules), ...own(outcomes)];
  const kinds = [
    own(rules).length > 0 && 'a rule',
    own(outcomes).length > 0 && 'an outcome',
    hasOwnRateLimit && 'the rate limit',
  ].filter((kind) => kind !== false);
  if (kinds.length === 0) return null;
  const used = worlds.filter(({ requests }) => requests.length > 0);
  const isMet = used.some(({ requests }) =>
    requests.some(
      ({ rule, planned_by: planner, limit }) =>
        rule?.startsWith(prefix) || planner?.startsWith(prefix) || limit === `rate_limit of ${name}`,
    ),
  );
  if (isMet || used.length === 0 || used.length < judged || !used.every(isWhole)) return null;
  const more = names.length - MOST_NAMES;
  const shown = [...names.slice(0, MOST_NAMES), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return `no request met ${listed(kinds, 'or')} of the scenario ${name}${shown && ` (${shown})`}, so none of that was tested`;
}
