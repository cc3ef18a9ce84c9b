import { expect, test } from 'vitest';
import type { Refusal } from '../../../src/contract/errors.ts';
import { LongBodies } from '../../../src/http/limits/body-bytes.ts';
import { isTooCrowded } from '../../../src/http/limits/crowding.ts';
import { sandboxFor } from '../../support/sandbox.ts';

test('past what long bodies may take together, the longest of them is refused', () => {
  const bodies = new LongBodies(1000);
  const refused: [string, string][] = [];
  const body = (name: string) => ({
    bytes: 0,
    refuse: ({ code }: Refusal) => void refused.push([name, code]),
  });
  const [short, long] = [body('short'), body('long')];
  bodies.grew(short, 300);
  bodies.grew(long, 700);
  expect(refused).toEqual([]);
  bodies.grew(short, 400);
  expect(refused).toEqual([['long', 'TOO_MANY_SNAPSHOTS']]);
  bodies.over(long);
  bodies.grew(short, 1000);
  expect(refused).toHaveLength(1);
});

const times = (count: number, text: string): string => Array.from({ length: count }, () => text).join(',');

test.each([
  ['a short text', `[${times(20_000, '0')}]`, false],
  ['a long text of little', JSON.stringify('['.repeat(1_000_000)), false],
  ['a text with escapes', `[${times(30_000, JSON.stringify('",",",",'))}]`, false],
  ['many small values', `[${times(200_000, '0')}]`, true],
  ['many empty objects', `[${times(200_000, '{}')}]`, true],
  ['many small objects with room between them', `[${times(200_000, '{"key":0}      ')}]`, true],
  ['values of the size of a snapshot', `[${times(500_000, '"0123456789abcdef"')}]`, false],
  ['more of them in one list than a sandbox holds', `[${times(2_100_000, '"0123456789"')}]`, true],
  ['as many in lists that are closed', `[${times(21, `[${times(100_000, '"0123456789"')}]`)}]`, false],
])('%s: too crowded, or not', (_what, text, expected) => {
  expect(isTooCrowded(text)).toBe(expected);
});

test('a body with more values than a snapshot of its length is refused before it is read', async () => {
  const { client } = await sandboxFor();
  const headers = { 'content-type': 'application/json' };
  const body = `{${times(300_000, '"k":0')}}`;
  expect(await client().send('PUT', '/_sandbox/state', { headers, body })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_REQUEST', errors: [{ field: 'body' }] },
  });
});
