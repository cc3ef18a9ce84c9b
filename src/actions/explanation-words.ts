import type { ExplainResponse, RuleVerdict } from '../contract/control-responses.ts';
import type { RouteName } from '../contract/match.ts';
import { istSecond } from '../contract/instant.ts';

/** @param otherwise what applies when none is taken */
function verdictLines(title: string, verdicts: readonly RuleVerdict[], otherwise: string): readonly string[] {
  const shown = verdicts.filter(({ id, taken }) => taken || !id.startsWith('magic/')); // fifty, each for an account of its own
  const names = shown.map(({ id }) => id.slice(id.indexOf('/') + 1));
  const width = Math.max(0, ...names.map((name) => name.length));
  const lines = shown.map(
    ({ taken, reason }, at) => `  ${taken ? '→' : ' '} ${names[at]!.padEnd(width)}  ${reason}`,
  );
  return [title, ...lines, ...(shown.some(({ taken }) => taken) ? [] : [`  → ${otherwise}`])];
}

function payoutLine({ payout, note }: ExplainResponse): readonly string[] {
  if (payout === null) return note === null ? [] : [`no payout: ${note}`];
  const steps = payout.timeline.map(({ to, when }) => `${to ?? 'UTR'} ${when}`).join(', ');
  return [`payout: ${steps || 'PENDING for ever'} (planned by ${payout.planned_by})`];
}

export function explanationLines(
  { route, reference }: { readonly route: RouteName; readonly reference?: string | undefined },
  explanation: ExplainResponse,
): readonly string[] {
  const { attempt, now, rules, outcomes } = explanation;
  const facts = [
    reference === undefined ? route : `${route} ${reference}`,
    ...(attempt === null ? [] : [`attempt ${attempt}`]),
    `${istSecond(now)} IST`,
  ];
  return [
    facts.join(', '),
    ...verdictLines('rules', rules, 'none: the normal response'),
    ...(route === 'initiate' ? verdictLines('outcomes', outcomes, 'none: the settlement decides') : []),
    ...payoutLine(explanation),
  ];
}
