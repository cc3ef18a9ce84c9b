import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { World } from '../../src/worlds/world.ts';
import { acts, anyAct, ENTANGLED, restoring, type Act } from '../support/world/commands.ts';
import { logFor, readerOf, type Core } from '../support/world/core.ts';
import { sized } from '../support/size.ts';

const withRestores = fc.oneof(
  { weight: 5, arbitrary: anyAct },
  { weight: 1, arbitrary: fc.constant(restoring) },
);
const CREDIT = { kind: 'credit', amountPaise: 1 } as const;
const UNDONE = 10; // what happened before that many actions may be forgotten

test.each([
  ['', anyAct, 30],
  [', also from a restore or across one', withRestores, UNDONE],
])(
  'a reader that resumes gets each event that it missed once, in order, wherever it was cut off%s',
  async (_where, anyOf, maxLength) => {
    await fc.assert(
      fc.asyncProperty(acts(anyOf, maxLength), fc.nat(), async (history, cut) => {
        const { world, wallClock } = logFor({ document: ENTANGLED, maxRequests: 1000 });
        const a = world('a');
        const { read: all } = await readerOf(a);
        for (const { command, waitMs } of history) {
          await wallClock.pass(waitMs);
          await submit(a, command);
        }
        if (all.length === 0) return;
        const seen = cut % all.length;
        const { read } = await readerOf(a, all[seen]!.id);
        await a.submit(CREDIT);
        expect(read).toEqual(all.slice(seen + 1));
      }),
      { numRuns: sized(20, 500) },
    );
  },
);

async function submit(world: World, command: Act['command']): Promise<void> {
  const asked = command({ state: world.latest } as Core);
  try {
    if (asked !== null) await world.submit(asked);
  } catch {
    // refused
  }
}

test('a reader without room gets what happened meanwhile once it has some, and learns how far it is not known any more', async () => {
  const a = logFor().world('a');
  const read: string[] = [];
  let makeRoom = (): void => undefined;
  let room: Promise<void> | undefined = new Promise((resolve) => (makeRoom = resolve));
  const take = ({ id }: { readonly id: string }) => void read.push(id.split('-')[1]!);
  await a.watch(undefined, { take, end: () => undefined, ready: () => room });
  for (let nth = 0; nth < 1010; nth += 1) await a.submit(CREDIT);
  expect(read).toEqual(['1']);
  room = undefined;
  makeRoom();
  await expect.poll(() => read.length).toBe(1002);
  expect([read[1], read[2], read.at(-1)]).toEqual(['10', '11', '1010']); // the first of these is `missed`
});

test('a reader of a world that was dropped and made again within a millisecond learns that it missed something', async () => {
  const { log, world } = logFor();
  const { read } = await readerOf(world('a'));
  await world('a').submit(CREDIT);
  await log.drop(world('a').id);
  const again = world('a');
  await again.submit(CREDIT);
  const late = await readerOf(again, read.at(-1)!.id);
  expect(late.read.map(({ type }) => type)).toEqual(['missed']);
});

test.each(['', 'x', '0-1-1', 'zzzz-99', '-1-1', 'of-the-future'])(
  'a reader with the id %j, which no event has, learns so, and gets the events that are still known',
  async (id) => {
    const a = logFor().world('a');
    const { read } = await readerOf(a);
    await a.submit(CREDIT);
    const after = id === 'of-the-future' ? read[0]!.id.replace(/\d+$/, '999') : id;
    const missed = await readerOf(a, after);
    expect(missed.read.map(({ type }) => type)).toEqual(['missed', 'wallet']);
    expect(JSON.parse(missed.read[0]!.data)).toEqual({ missed: null });
  },
);

test('a reader that fails keeps no event from the others, and does not fail the command', async () => {
  const { world, failures } = logFor();
  const a = world('a');
  const error = new RangeError('too deep');
  const take = () => {
    throw error;
  };
  await a.watch(undefined, { take, end: () => undefined });
  const { read } = await readerOf(a);
  await a.submit(CREDIT);
  expect([read.map(({ type }) => type), failures]).toEqual([['wallet'], [error]]);
});
