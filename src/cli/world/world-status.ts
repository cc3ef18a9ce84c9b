import type { z } from 'zod';
import type { ClockAnswer, HealthAnswer, WorldAnswer } from '../../contract/control-answers.ts';
import { alignedLines, istSecond, rupees, stateColour } from './readable.ts';
import { show, type Session } from './world-session.ts';

/** The commands that show or reset a whole world. */

export const clockText = ({ now, frozen }: Pick<ClockAnswer, 'now' | 'frozen'>): string =>
  `${istSecond(now)} IST, ${frozen ? 'frozen' : 'running'}`;

export function nextText({ next_due: next, frozen }: ClockAnswer): string {
  if (next === null) return 'nothing is scheduled';
  return `next step of a payout at ${istSecond(next)} IST${frozen ? ', once the clock is advanced' : ''}`;
}

function payoutsText(counts: WorldAnswer['transactions'], { paint }: Session): string {
  const states = Object.entries(counts) as [keyof typeof counts, number][];
  const some = states.filter(([, count]) => count > 0);
  if (some.length === 0) return 'none';
  return some
    .map(([state, count]) => `${count.toLocaleString('en-IN')} ${paint(state, stateColour(state))}`)
    .join(', ');
}

function worldLines(summary: WorldAnswer, session: Session): readonly string[] {
  const { id, balance, opening_balance: opening, transactions, clock, scenario, invariants } = summary;
  const { paint, keyText } = session;
  const rows = [
    ['World', `${id}, of ${keyText}`],
    ['Clock', `${clockText(clock)}; ${nextText(clock)}`],
    ['Balance', `${rupees(balance)}, of ${rupees(opening)} at the start`],
    ['Scenario', scenario],
    ...(invariants === 'hold' ? [] : [['Broken', `${invariants.join('; ')}: this is a bug in the sandbox`]]),
  ];
  return [
    ...alignedLines(
      rows.map(([name, text]) => [{ text: name!, colour: 'dim' }, text!]),
      paint,
    ),
    `${paint('Payouts', 'dim')}   ${payoutsText(transactions, session)}`,
  ];
}

/** `payout-sandbox status` */
export async function showStatus(session: Session): Promise<void> {
  const { control, world, paint } = session;
  const summary = await world.summary();
  const { version } = await control.get<z.infer<typeof HealthAnswer>>('/health');
  show(session, { url: world.url, version, ...summary }, () => [
    `${paint('Sandbox', 'dim')}   ${world.url}, version ${version}`,
    ...worldLines(summary, session),
  ]);
}

/** `payout-sandbox reset` */
export async function resetWorld(session: Session): Promise<void> {
  const summary = await session.world.reset();
  show(session, summary, () => worldLines(summary, session));
}
