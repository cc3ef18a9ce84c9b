import { z } from 'zod';
import type { AdvanceResponse, ClockResponse } from '../contract/control-responses.ts';
import { ClockSpeed, istSecond } from '../contract/times.ts';
import { counted } from '../contract/words.ts';
import { action, type Session } from './sandbox-action.ts';
import { text } from './arguments.ts';
import { stateColour, table } from './text-output.ts';

/** `frozen`, `running`, `running 3600 times as fast` */
const speedText = (speed: number): string =>
  speed === 0 ? 'frozen' : speed === 1 ? 'running' : `running ${speed} times as fast`;

export const clockText = ({ now, speed }: Pick<ClockResponse, 'now' | 'speed'>): string =>
  `${istSecond(now)} IST, ${speedText(speed)}`;

export function nextText({ next_due: next, frozen }: ClockResponse): string {
  if (next === null) return 'nothing is scheduled';
  return `next step of a payout at ${istSecond(next)} IST${frozen ? ', once the clock is advanced' : ''}`;
}

function advanceLines(advanced: AdvanceResponse, { paint }: Session): readonly string[] {
  const { changes } = advanced;
  const rows = changes.map(({ at, client_ref_id: reference, from, to, utr }) => [
    istSecond(at),
    reference,
    from === to ? 'UTR' : { text: to, colour: stateColour(to) },
    utr ?? '',
  ]);
  return [
    `${clockText(advanced)}; ${rows.length === 0 ? 'nothing was due' : `${counted(rows.length, 'step')} applied`}`,
    ...(rows.length === 0 ? [] : table(['at (IST)', 'reference', 'became', 'UTR'], rows, paint)),
  ];
}

const Change = z.union([z.enum(['freeze', 'resume']), z.coerce.number().pipe(ClockSpeed)], {
  error: 'must be freeze, resume or a speed from 0 to 86400',
});

export const clockActions = [
  action({
    name: 'advance',
    summary: 'move the clock; steps that come due are applied',
    effect: 'changes',
    input: {
      time: text(
        'a duration such as 2h 30m, a time such as 2026-12-01 10:00, or idle: until nothing is scheduled',
        'time',
      ),
    },
    words: ['time'],
    run: ({ time }, { world }) => world.clock.advance(time),
    lines: advanceLines,
  }),
  action({
    name: 'clock',
    summary: 'freeze the clock, let it run again, or faster',
    details:
      'While it is frozen, nothing settles until it is advanced. At 3600, an hour passes in each second.',
    effect: 'changes',
    input: { change: Change.meta({ description: 'freeze, resume, or a speed from 0 to 86400' }) },
    words: ['change'],
    run: ({ change }, { world }) =>
      change === 'freeze' || change === 'resume' ? world.clock[change]() : world.clock.speed(change),
    lines: (clock) => [`${clockText(clock)}; ${nextText(clock)}`],
  }),
];
