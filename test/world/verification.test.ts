import { expect, test } from 'vitest';
import type { Exchange } from '../../src/world/journal/exchange.ts';
import { verify } from '../../src/world/journal/verification.ts';
import { testRows } from '../support/test-rows.ts';

const asked = (nth: number, change: Partial<Exchange> = {}): Exchange => ({
  nth,
  requestId: `req-${nth}`,
  requestCharacters: 0,
  route: 'initiate',
  method: 'GET',
  url: '/12345',
  headers: {},
  outcome: 'answered',
  atMs: 0,
  wallMs: 0,
  position: nth,
  ...change,
});

const verified = (exchanges: readonly Exchange[], expected: Parameters<typeof verify>[2]) =>
  verify(exchanges, 0, expected, () => undefined);

/** The same of a journal from which so many requests were dropped, and what the report was told. */
const verifiedAfter = (
  exchanges: readonly Exchange[],
  expected: Parameters<typeof verify>[2],
  evicted = 0,
) => {
  const told: string[] = [];
  const report = (path: readonly PropertyKey[]) => void told.push(path.join('.'));
  const answer = verify(exchanges, evicted, expected, report);
  return { ...answer, told };
};

const response: Exchange['response'] = { status: 200, headers: {}, body: '' };

testRows([
  ['connection-reset', 0],
  ['empty-response', 0],
  ['garbage', 0],
  ['hang', 0],
  ['slow-body', 1],
  ['truncated-body', 1],
  [undefined, 1],
] as const)('a response with a fault counts with its status if the client saw it', (fault, count) => {
  const one = asked(1, { response, ...(fault !== undefined && { fault }) });
  expect(verified([one], { match: { status: 200 } }).count).toBe(count);
});

const known = ({ nth = 0, ...change }: Partial<Exchange>): Exchange => asked(nth, change);

test('a field that does not match is shown with the value that the request had', () => {
  const atMs = Date.parse('2026-01-15T10:30:00Z');
  const one = known({
    nth: 1,
    route: 'status',
    attempt: 2,
    atMs,
    response,
    headers: { a: 'b' },
    url: '/s?txn_id=T',
  });
  const match = {
    route: 'initiate',
    attempt: 1,
    header: { a: 'c' },
    hours: { from: 0, to: 1 },
    status: 400,
    outcome: 'pending',
    rule: 'a/b',
    fault: 'hang',
    committed: true,
    replayed: true,
  } as const;
  const { closest, message, told } = verifiedAfter([one], { match });
  expect(message).toMatch(/^0 requests match; expected at least 1\n/);
  expect(told).toEqual([]);
  expect(closest).toEqual([
    {
      id: 1,
      request: '#1 GET /s 200',
      misses: Object.entries({
        route: 'status',
        attempt: 2,
        header: { a: 'b' },
        hours: '2026-01-15T10:30:00.000Z',
        status: 200,
        outcome: 'answered',
        rule: null,
        fault: null,
        committed: null,
        replayed: false,
      }).map(([field, actual]) => ({ field, expected: match[field as keyof typeof match], actual })),
    },
  ]);
});

test('one request matches, two requests match, and what was dropped is counted in the same words', () => {
  const all = [known({ nth: 1 }), known({ nth: 2, outcome: 'client_gone' })];
  expect(verifiedAfter(all, { match: { outcome: 'answered' } }, 1)).toMatchObject({
    passed: true,
    message:
      '1 request matches; expected at least 1; 1 older request was dropped from the journal and is not counted (SANDBOX_JOURNAL_ENTRIES)',
    closest: [],
    evicted: 1,
  });
  expect(verifiedAfter(all, { match: undefined }, 0)).toMatchObject({
    count: 2,
    message: '2 requests match; expected at least 1',
  });
  expect(verifiedAfter(all, { sequence: [{ outcome: 'answered' }] }, 5)).toMatchObject({
    passed: true,
    count: 1,
    message: 'The whole sequence of 1 request was seen',
    closest: [],
  });
  const twice = [{ outcome: 'answered' as const }, { outcome: 'answered' as const }];
  expect(verifiedAfter(all, { sequence: twice })).toMatchObject({ passed: false, count: 1 });
  const sequence = [{ outcome: 'answered' as const }, { route: 'balance' as const }];
  expect(verifiedAfter(all, { sequence }, 5)).toMatchObject({
    passed: false,
    count: 1,
    message: [
      '1 of the sequence of 2 requests were seen: nothing after them matches sequence[1]; 5 older requests were dropped from the journal and are not counted (SANDBOX_JOURNAL_ENTRIES)',
      'sequence[0] is #1 GET /12345',
      'sequence[1] should be route "balance"',
      'The closest after them:',
      '  #2 GET /12345 client_gone: route is "initiate", expected "balance"',
    ].join('\n'),
    closest: [{ id: 2, request: '#2 GET /12345 client_gone' }],
  });
});
