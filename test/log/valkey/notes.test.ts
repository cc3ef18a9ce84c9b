import { describe, expect, inject, test } from 'vitest';
import { memoryNotes, type NoteLimits, type Notes } from '../../../src/log/notes.ts';
import { serversFor } from '../../support/store/shared-servers.ts';
import { storedLogsFor } from '../../support/store/stored-log.ts';

const AMPLE: NoteLimits = { notes: 100, characters: 1000 };
const put = (notes: Notes, name: string, text: string) => notes.change(name, () => text);

const NOTES: readonly [where: string, notesFor: (limits: NoteLimits) => Promise<readonly [Notes, Notes]>][] =
  [
    [
      'in memory',
      async (limits) => {
        const notes = memoryNotes(limits);
        return [notes, notes];
      },
    ],
    [
      'in a store, at two servers',
      async (limits) => {
        const { ofOne, ofOther } = await storedLogsFor();
        return [ofOne.store.notes('tests', limits), ofOther.store.notes('tests', limits)];
      },
    ],
  ];

describe.each(inject('storeUrl') === '' ? NOTES.slice(0, 1) : NOTES)('notes %s', (_where, notesFor) => {
  test('keep the latest text until it is removed', async () => {
    const [one, other] = await notesFor(AMPLE);
    expect(await one.get('a')).toBeNull();
    await put(one, 'a', '1');
    await put(other, 'b', '2');
    await put(one, 'a', '3');
    expect(Object.fromEntries(await other.all())).toEqual({ a: '3', b: '2' });
    await other.change('a', () => null);
    expect([await one.get('a'), await one.get('b')]).toEqual([null, '2']);
  });

  test('lose no change of many at once', async () => {
    const both = await notesFor(AMPLE);
    const add = (notes: Notes) => notes.change('sum', (before) => String(Number(before) + 1));
    await Promise.all(Array.from({ length: 20 }, (_, nth) => add(both[nth % 2]!)));
    expect(await both[0].get('sum')).toBe('20');
  });

  test.each<[string, NoteLimits, kept: string[]]>([
    ['notes', { notes: 2, characters: 1000 }, ['c', 'long']],
    ['characters', { notes: 100, characters: 290 }, ['long']],
  ])('are dropped past the most %s, the one changed longest ago first', async (_what, limits, kept) => {
    const [one, other] = await notesFor(limits);
    await put(one, 'a', '1'.repeat(100));
    await put(other, 'b', '1'.repeat(100));
    await put(one, 'a', '4'.repeat(100));
    await put(other, 'c', '1'.repeat(100));
    expect([...(await one.all()).keys()].toSorted()).toEqual(['a', 'c']);
    await put(one, 'long', '1'.repeat(700));
    expect([...(await other.all()).keys()].toSorted()).toEqual(kept); // the newest is always kept
  });
});

test.skipIf(inject('storeUrl') === '')(
  'the settings of the referee and its reports on ended journals are known at all servers',
  async () => {
    const { clients } = await serversFor(2);
    const [one, other] = clients();
    await one!.send('PUT', '/_sandbox/referee', { json: { name: 'shop' } });
    await other!.pay({ amount: 0.001 });
    expect(await other!.world.referee()).toMatchObject({ name: 'shop', counts: { error: 1 } });
    await other!.world.reset();
    await one!.pay({ amount: 0.001 });
    expect(await one!.world.referee()).toMatchObject({ name: 'shop', counts: { error: 2 } });
  },
);
