import type { JournalEntry } from '../../contract/control-answers.ts';
import type { State } from '../../contract/service.ts';
import { wentWrong } from '../lists/request-filter.ts';
import type { Risk } from '../lists/request-list.ts';

export const StateBadge = ({ state }: { readonly state: State }) => (
  <span class={`badge state-${state.toLowerCase()}`}>{state}</span>
);

const OUTCOMES = {
  pending: 'hanging',
  answered: '',
  fault: 'broken',
  client_gone: 'client disconnected',
} as const;

/** What the client got: the status, or what happened to the connection. */
export function AnswerBadge({ entry }: { readonly entry: JournalEntry }) {
  const { outcome, answer, fault } = entry;
  const kind = outcome === 'pending' ? 'pending' : wentWrong(entry) ? 'failed' : 'success';
  const broken = outcome === 'fault' ? (fault ?? OUTCOMES.fault) : OUTCOMES[outcome];
  return (
    <span class={`badge state-${kind}`}>
      {outcome === 'answered' ? String(answer?.status ?? '') : broken}
      {outcome === 'pending' && <span class="spinner" aria-hidden="true" />}
    </span>
  );
}

/** On a request: it made a payout, although its client saw a failure. */
export const PaidBadge = () => (
  <span class="badge risk" title="Paid, but the client saw a failure">
    paid
  </span>
);

/** On a payout: it was made, although its client saw a failure. */
export const RiskBadge = ({ risk: { seen } }: { readonly risk: Risk }) => (
  <span class="badge risk" title={`Paid, but the ${seen}`}>
    {seen}
  </span>
);
