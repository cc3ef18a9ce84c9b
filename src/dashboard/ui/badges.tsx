import type { JournalEntry, TransactionResponse } from '../../contract/control-responses.ts';
import type { State } from '../../contract/service.ts';
import { seenText, wentWrong } from './request-words.ts';

/** The state of a payout: only what is not usual stands out. */
export const StateMark = ({ state }: { readonly state: State }) => (
  <span class={`state is-${state.toLowerCase()}`}>{state}</span>
);

export const ResponseMark = ({ entry }: { readonly entry: JournalEntry }) => (
  <span class={wentWrong(entry) ? 'pill' : 'number'}>{seenText(entry)}</span>
);

/** What the client knows of a payout, in words. */
export const knowsText = ({ told }: TransactionResponse): string =>
  told === null ? 'not told' : `last saw ${told.as}`;

/** What the client knows of a payout: red while it is at risk, and a quiet pill once it is out of date. */
export const KnowsMark = ({ payout }: { readonly payout: TransactionResponse }) => (
  <span class={payout.at_risk ? 'pill risk' : payout.out_of_date ? 'pill' : 'dim'}>
    <span class="unseen">client</span> {knowsText(payout)}
  </span>
);
