import type { Effect } from '../../contract/scenario-document.ts';
import type { Report } from '../planned-timeline.ts';
import { replacesBody, showsAnswer } from '../rule.ts';

/** Why an effect makes no payout; null when it makes one. */
function whyNoPayout({ commit, respond, fault, limit }: Effect, faultKind: string): string | null {
  if (commit !== undefined) return commit ? null : 'commit: false makes no payout';
  const answer =
    respond !== undefined ? 'respond' : fault !== undefined ? `the fault ${faultKind}` : limit && 'limit';
  return answer === undefined ? null : `${answer} makes no payout without commit: true`;
}

/** Warns of parts of an effect that the rest of it makes useless. */
export function warnOfEffect(effect: Effect, warn: Report): void {
  const { respond = null, fault, limit, timeline, not_found, stale } = effect;
  const kind = typeof fault === 'object' ? fault.kind : fault;
  const noPayout = whyNoPayout(effect, kind ?? '');
  for (const [part, value] of Object.entries({ timeline, not_found })) {
    if (value !== undefined && noPayout !== null) warn([part], `is never used: ${noPayout}`);
  }
  const unseen = showsAnswer(kind) ? null : `the fault ${kind} shows no answer`;
  if (respond !== null && unseen !== null) warn(['respond'], `is never seen by a client: ${unseen}`);
  if (stale === undefined) return;
  const isReplaced = respond === null ? limit !== undefined : replacesBody(respond);
  const why = unseen ?? (isReplaced ? 'the rule answers something else' : null);
  if (why !== null) warn(['stale'], `is never seen by a client: ${why}`);
}
