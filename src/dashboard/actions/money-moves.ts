import type { LiveWorld } from '../store/live-world.ts';
import { rupees } from '../../contract/words.ts';

/** Credits or debits the world. @returns what it did */
export async function moveMoney(live: LiveWorld, what: 'credit' | 'debit', amount: number): Promise<string> {
  const { balance } = await live.world[what === 'credit' ? 'fund' : 'withdraw'](amount);
  return `${rupees(amount)} ${what}ed: the balance is ${rupees(balance)}.`;
}
