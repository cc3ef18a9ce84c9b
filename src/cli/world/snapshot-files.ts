import { checkWritable, writeText } from '../output-files.ts';
import { textOfFile } from '../input-files.ts';
import { counted, rupees } from './readable.ts';
import { show, type Session } from './world-session.ts';
import { showStatus } from './world-status.ts';

/** `payout-sandbox snapshot save FILE` */
export async function saveSnapshot(session: Session, file: string): Promise<void> {
  checkWritable('snapshot save', file);
  const { balance, transactions } = await session.world.summary();
  writeText('snapshot save', file, await session.world.snapshot());
  const payouts = Object.values(transactions).reduce((sum, count) => sum + count, 0);
  show(session, { file, balance, payouts }, () => [
    `${file} holds the world: ${counted(payouts, 'payout')}, ${rupees(balance)}`,
  ]);
}

/** `payout-sandbox snapshot load FILE` */
export async function loadSnapshot(session: Session, file: string): Promise<void> {
  await session.world.restore(textOfFile('snapshot load', file));
  await showStatus(session);
}
