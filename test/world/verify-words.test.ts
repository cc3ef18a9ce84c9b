import { expect, test } from 'vitest';
import type { Exchange } from '../../src/world/exchange.ts';
import { verify } from '../../src/world/verification.ts';

const asked = (nth: number, change: Partial<Exchange> = {}): Exchange =>
  ({ nth, method: 'GET', url: '/12345', headers: {}, outcome: 'answered', atMs: 0, ...change }) as Exchange;

const verified = (exchanges: readonly Exchange[], expected: Parameters<typeof verify>[2]) =>
  verify(
    exchanges,
    0,
    expected,
    (pattern) => new RegExp(pattern),
    () => undefined,
  );

const answer = { status: 200, headers: {}, body: '' } as NonNullable<Exchange['answer']>;

test('a part of a match without a value asks for nothing', () => {
  expect(verified([asked(1), asked(2)], { match: { outcome: undefined, route: undefined } }).count).toBe(2);
});

test('a request that has no answer has no status', () => {
  const { count, closest } = verified([asked(1)], { match: { status: 200 } });
  expect([count, closest[0]?.misses]).toEqual([0, [{ field: 'status', expected: 200, actual: null }]]);
});

test.each([
  ['connection-reset', 0],
  ['empty-response', 0],
  ['garbage', 0],
  ['hang', 0],
  ['slow-body', 1],
  ['truncated-body', 1],
  [undefined, 1],
] as const)('an answer with the fault %s counts with its status %i times', (fault, count) => {
  const one = asked(1, { answer, ...(fault !== undefined && { fault }) });
  expect(verified([one], { match: { status: 200 } }).count).toBe(count);
});

test.each([
  [true, true],
  [false, false],
  [undefined, null],
])('a payout is committed as the journal says: %s', (underRule, actual) => {
  const one = asked(1, { route: 'initiate', ...(underRule !== undefined && { committed: underRule }) });
  for (const committed of [true, false]) {
    const { passed, closest } = verified([one], { match: { committed } });
    expect(passed).toBe(committed === actual);
    if (!passed) expect(closest[0]?.misses).toEqual([{ field: 'committed', expected: committed, actual }]);
  }
});

test('where nothing of a sequence was seen, all requests are looked at for the closest', () => {
  const all = [asked(1), asked(2), asked(3)];
  const sequence = [{ route: 'balance' as const }];
  expect(verified(all, { sequence }).closest.map(({ id }) => id)).toEqual([3, 2, 1]);
});

test('no more than three are shown, though more are as close', () => {
  const all = [1, 2, 3, 4].map((nth) => asked(nth));
  expect(verified(all, { match: { route: 'balance' } }).closest).toHaveLength(3);
});
