import { expect, test } from 'vitest';
import type { Exchange } from '../../src/world/journal/exchange.ts';
import { verify } from '../../src/world/journal/verification.ts';
import { testRows } from '../support/test-rows.ts';

const ANSWERED: Exchange = {
  nth: 1,
  requestId: 'req-1',
  requestCharacters: 0,
  route: 'initiate',
  method: 'GET',
  url: '/12345',
  headers: {},
  outcome: 'answered',
  atMs: 0,
  wallMs: 0,
  position: 1,
  response: { status: 200, headers: {}, body: '' },
};

testRows([
  ['connection-reset', 0],
  ['empty-response', 0],
  ['garbage', 0],
  ['hang', 0],
  ['malformed-json', 1],
  ['slow-body', 1],
  ['truncated-body', 1],
  [undefined, 1],
] as const)('a response with a fault counts with its status if the client saw it', (fault, count) => {
  const one = { ...ANSWERED, ...(fault !== undefined && { fault }) };
  expect(verify([one], 0, { match: { status: 200 } }, () => undefined).count).toBe(count);
});

test('of a long journal that matches nothing, only the closest requests are written out, the newest first', () => {
  const written = new Set<number>();
  const journal = Array.from({ length: 100 }, (_, index) =>
    Object.defineProperty({ ...ANSWERED, nth: index + 1 }, 'method', {
      get: () => (written.add(index + 1), 'POST'),
    }),
  );
  const { closest } = verify(journal, 0, { match: { route: 'status' } }, () => undefined);
  expect([closest.map(({ id }) => id), [...written]]).toEqual([
    [100, 99, 98],
    [100, 99, 98],
  ]);
});
