import type { ScenarioAnswer, WorldAnswer } from '../../contract/control-answers.ts';
import { plural } from '../lists/formats.ts';

/** What a world has that a reset or a snapshot would replace, apart from its requests. */
interface Contents {
  readonly summary: Pick<WorldAnswer, 'transactions' | 'balance' | 'opening_balance'> | null;
  readonly scenario: Pick<ScenarioAnswer, 'chosen' | 'rules'> | null;
}

const joined = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

/** What such a world would lose, in words; null if nothing. */
export function lossText({ summary, scenario }: Contents, requests: number): string | null {
  const payouts = Object.values(summary?.transactions ?? {}).reduce((sum, count) => sum + count, 0);
  const rulesOnTop = scenario?.rules.filter(({ from }) => from === 'world').length ?? 0;
  const isMoneyMoved = summary?.balance !== summary?.opening_balance;
  const parts = [
    payouts > 0 ? plural(payouts, 'payout') : '',
    requests > 0 ? plural(requests, 'request') : '',
    rulesOnTop > 0 ? plural(rulesOnTop, 'rule on top', 'rules on top') : '',
    scenario?.chosen === true ? 'the chosen scenario' : '',
    payouts === 0 && isMoneyMoved ? 'the changes of the balance' : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : joined(parts);
}
