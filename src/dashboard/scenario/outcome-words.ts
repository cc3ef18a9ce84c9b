import type { ScenarioInput } from '../../contract/control.ts';

type OutcomeInput = NonNullable<ScenarioInput['outcomes']>[number];
type StepInput = NonNullable<OutcomeInput['timeline']>[number];

function stepText({ to, after, at, polls, utr }: StepInput): string {
  const time = typeof at === 'object' ? `${at.time} of the next working day` : at;
  const when =
    after !== undefined ? `after ${after}` : time !== undefined ? `at ${time}` : `at status read ${polls}`;
  return `${to ?? 'UTR'} ${when}${utr === 'none' ? ' without UTR' : ''}`;
}

const timelineText = (steps: readonly StepInput[]): string =>
  steps.length === 0 ? 'PENDING for ever' : steps.map(stepText).join(', ');

/** What an outcome does to a payout, in one line: `SUCCESS at 08:30, REVERSED after 3d; not found for 5s` */
export function outcomeText({ timeline, weighted = [], not_found: hidden }: OutcomeInput): string {
  const parts = [
    ...(timeline === undefined ? [] : [timelineText(timeline)]),
    ...weighted.map((one) => `weight ${one.weight}: ${timelineText(one.timeline)}`),
    ...(hidden?.reads === undefined ? [] : [`not found at status reads 1 to ${hidden.reads}`]),
    ...(hidden?.for === undefined ? [] : [`not found for ${hidden.for}`]),
  ];
  return parts.join('; ');
}
