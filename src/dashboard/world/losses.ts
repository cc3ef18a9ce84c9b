import { plural } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';

/** What a world has that a reset or a snapshot would remove. */
interface Contents {
  readonly payouts: number;
  readonly requests: number;
  readonly rulesOnTop: number;
  readonly isScenarioChosen: boolean;
  /** Whether money was credited or debited by hand. */
  readonly isMoneyMoved: boolean;
}

const joined = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

/** What would be lost, in words; null for nothing. */
export function lossText({
  payouts,
  requests,
  rulesOnTop,
  isScenarioChosen,
  isMoneyMoved,
}: Contents): string | null {
  const parts = [
    payouts > 0 ? plural(payouts, 'payout') : '',
    requests > 0 ? plural(requests, 'request') : '',
    rulesOnTop > 0 ? plural(rulesOnTop, 'rule on top', 'rules on top') : '',
    isScenarioChosen ? 'the chosen scenario' : '',
    payouts === 0 && isMoneyMoved ? 'the changes of the balance' : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : joined(parts);
}

/** What the world on the page would lose. */
export function lossOf({ summary, requests, scenario }: LiveWorld): string | null {
  const { transactions, balance, opening_balance: opening } = summary.value ?? {};
  return lossText({
    payouts: Object.values(transactions ?? {}).reduce((sum, count) => sum + count, 0),
    requests: requests.rows.length + requests.evicted,
    rulesOnTop: scenario.value?.rules.filter(({ from }) => from === 'world').length ?? 0,
    isScenarioChosen: scenario.value?.chosen === true,
    isMoneyMoved: balance !== opening,
  });
}
