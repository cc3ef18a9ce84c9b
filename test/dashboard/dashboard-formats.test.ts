import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { JournalEntry } from '../../src/contract/control-responses.ts';
import { curlOf, curlOfRequest } from '../../src/dashboard/requests/curl.ts';
import {
  duration,
  istDay,
  istMoment,
  istTime,
  timesInIst,
  utcMoment,
} from '../../src/dashboard/ui/formats.ts';
import {
  NO_FILTER,
  REQUEST_KINDS,
  wantedRequests,
  type RequestKind,
} from '../../src/dashboard/requests/request-filter.ts';
import { testRows } from '../support/test-rows.ts';

/** The arguments that a shell gives to curl. */
const argumentsOf = (command: string): readonly string[] =>
  execFileSync('sh', ['-c', command.replace(/^curl /, "printf '%s\\0' ")], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const HOSTILE = `'; echo "$(id)" \`id\` 'and' \\'it''s' $HOME \n # !! é`;

test('a shell takes every part of a copied curl command as text, however it is quoted', () => {
  const call = {
    method: 'POST',
    url: `http://127.0.0.1:3000/${HOSTILE}`,
    apiKey: HOSTILE,
    headers: { 'x-order': HOSTILE },
    body: HOSTILE,
  };
  expect(argumentsOf(curlOf(call))).toEqual([
    '-sS',
    '-X',
    'POST',
    call.url,
    '-H',
    `Authorization: Bearer ${HOSTILE}`,
    '-H',
    `x-order: ${HOSTILE}`,
    '--data-raw',
    HOSTILE,
  ]);
});

/** A request of the journal, as far as the page looks at it here. */
const entry = (change: object = {}): JournalEntry =>
  ({
    id: 1,
    outcome: 'answered',
    request: { method: 'POST', path: '/payout/initiate', headers: {}, body: null },
    answer: { status: 200, headers: {}, body: null },
    warnings: [],
    replayed: false,
    request_id: 'req-1x',
    committed: null,
    ...change,
  }) as unknown as JournalEntry;

test('a copied request has its body and the headers that decide its response, and no others', () => {
  const request = {
    method: 'POST',
    path: '/payout/initiate',
    headers: { 'content-type': 'application/json', cookie: 'secret' },
    body: { remarks: "it's" },
  };
  expect(argumentsOf(curlOfRequest(entry({ request }), 'http://127.0.0.1:3000', 'sk_test_a'))).toEqual([
    '-sS',
    '-X',
    'POST',
    'http://127.0.0.1:3000/payout/initiate',
    '-H',
    'Authorization: Bearer sk_test_a',
    '-H',
    'content-type: application/json',
    '--data-raw',
    '{"remarks":"it\'s"}',
  ]);
});

test('late in the evening in UTC, a moment has the next day in IST', () => {
  const at = '2026-01-14T20:00:05.000Z';
  expect([utcMoment(at), istMoment(at)]).toEqual(['14 Jan 2026, 20:00:05 UTC', '15 Jan 2026, 01:30:05 IST']);
  expect(timesInIst(`PENDING for ${at}`)).toBe('PENDING for 15 Jan 2026, 01:30:05 IST');
  expect([istDay(at), istTime(at)]).toEqual(['15 Jan 2026', '01:30:05']);
});

const answered = (status: number, change: object = {}): JournalEntry =>
  entry({ answer: { status, headers: {}, body: null }, ...change });
const unanswered = (outcome: string, change: object = {}): JournalEntry =>
  entry({ outcome, answer: null, ...change });

testRows<[string, JournalEntry, readonly RequestKind[]]>([
  ['200', answered(200), []],
  ['400', answered(400), ['wrong', 'refused']],
  ['500', answered(500), ['wrong', 'failed']],
  ['500 after commit', answered(500, { committed: true }), ['wrong', 'paid', 'failed']],
  ['a payout without an error', answered(200, { committed: true }), []],
  ['a request that hangs', unanswered('pending'), ['wrong', 'open']],
  ['a fault', unanswered('fault', { committed: false }), ['wrong', 'broken']],
  ['a client that left', unanswered('client_gone', { committed: true }), ['wrong', 'paid', 'broken']],
])('the filter of requests finds each under the right kinds', (_what, row, kinds) => {
  const finds = (wanted: object): boolean => wantedRequests([row], { ...NO_FILTER, ...wanted }).length === 1;
  const found = (Object.keys(REQUEST_KINDS) as RequestKind[]).filter((kind) => finds({ kind }));
  expect(['q-1', 'req-1', 'req-1X', '1x'].filter((text) => finds({ text }))).toEqual(['req-1', 'req-1X']);
  expect(found.toSorted()).toEqual(['all', ...kinds].toSorted());
});

testRows([
  [999, '999 ms'],
  [1000, '1 s'],
  [1920, '1.9 s'],
  [60_900, '1 min 1 s'],
  [3_599_900, '1 h'],
  [93_784_000, '1 d 2 h'],
])('a time is shown in the unit that fits', (ms, text) => {
  expect(duration(ms)).toBe(text);
});
