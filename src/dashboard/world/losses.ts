import type { ScenarioResponse, WorldResponse } from '../../contract/control-responses.ts';
import type { World } from '../../client/controlled-world.ts';
import { WorldPages } from '../store/world-pages.ts';
import { counted } from '../../contract/words.ts';

/** What a world has that a reset or a snapshot would replace, apart from its requests. */
interface Contents {
  readonly summary: Pick<WorldResponse, 'transactions' | 'balance' | 'opening_balance'>;
  readonly scenario: Pick<ScenarioResponse, 'chosen' | 'rules'>;
}

/** What of such a world would be replaced, in words; null if nothing. */
export function lossText({ summary, scenario }: Contents, requests: number): string | null {
  const payouts = Object.values(summary.transactions).reduce((sum, count) => sum + count, 0);
  const rulesOnTop = scenario.rules.filter(({ from }) => from === 'world').length;
  const isMoneyMoved = summary.balance !== summary.opening_balance;
  const parts = [
    payouts > 0 ? counted(payouts, 'payout') : '',
    requests > 0 ? counted(requests, 'request') : '',
    rulesOnTop > 0 ? counted(rulesOnTop, 'override') : '',
    scenario.chosen ? 'its own scenario' : '',
    payouts === 0 && isMoneyMoved ? 'the changes of the balance' : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : new Intl.ListFormat('en-GB').format(parts);
}

/** The same for a world as it is now. The sandbox is asked, since what the page shows may be older, or not loaded yet. */
export async function lossIn(world: World): Promise<string | null> {
  const [summary, scenario, journal] = await Promise.all([
    world.summary(),
    world.scenario(),
    new WorldPages(world.url, world.apiKey).requests(1),
  ]);
  return lossText({ summary, scenario }, journal.requests.length + journal.left_out);
}
