import { z } from 'zod';
import { ofWorld, tool, ToolError } from './tool.ts';

/** Tools for the clock of a world. */

/** How many of the steps that an advance applied to show. */
const MOST_CHANGES = 50;

export const clockTools = [
  tool({
    name: 'freeze_clock',
    description: 'Stops the clock of a world, so that nothing settles until advance_clock moves it.',
    effect: 'changes',
    input: z.strictObject(ofWorld),
    run: ({ key }, session) => session.world(key).clock.freeze(),
  }),
  tool({
    name: 'resume_clock',
    description: 'Lets the clock of a world run again, from its current time.',
    effect: 'changes',
    input: z.strictObject(ofWorld),
    run: ({ key }, session) => session.world(key).clock.resume(),
  }),
  tool({
    name: 'advance_clock',
    description:
      'Moves the clock of a world forward, and shows the payouts that settled. Give exactly one of by, to and until.',
    effect: 'changes',
    input: z.strictObject({
      ...ofWorld,
      by: z.string().optional().describe('A duration: 90s, 2h, 3d'),
      to: z.string().optional().describe('A time: 2026-12-01T00:00:00Z'),
      until: z.literal('idle').optional().describe('Until nothing is scheduled'),
    }),
    async run({ key, ...move }, session) {
      const given = Object.values(move).filter((value) => value !== undefined);
      if (given.length !== 1) throw new ToolError('give exactly one of by, to and until');
      const { changes, ...clock } = await session.world(key).clock.advance(move);
      return { ...clock, settled: changes.length, changes: changes.slice(-MOST_CHANGES) };
    },
  }),
];
