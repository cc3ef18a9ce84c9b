import { expect } from 'vitest';
import { readableLine } from '../../src/platform/logging.ts';
import { testRows } from '../support/test-rows.ts';

const PAYOUT = { client_ref_id: 'order-1', txn_id: 'TXN1' };

testRows<[what: string, msg: string, fields: object, text: string]>([
  [
    'an answered request',
    'request',
    { status: 200, route: 'initiate', ...PAYOUT, duration_ms: 1.2, world: 'a7d0c707' },
    '200  initiate  order-1  TXN1  1.2 ms  world a7d0c707',
  ],
  [
    'a request with a rule',
    'request',
    { route: 'initiate', rule: 'a/b', fault: 'hang', committed: true, duration_ms: 1, warnings: ['x', 'y'] },
    'hang  initiate  rule a/b  committed  1 ms  warning: x; y',
  ],
  [
    'a request for an unknown path',
    'request',
    { status: 404, method: 'GET', path: '/x', code: 'ROUTE_NOT_FOUND', duration_ms: 1 },
    '404  GET /x  ROUTE_NOT_FOUND  1 ms',
  ],
  [
    'bytes that are not a request',
    'request',
    { status: 431, code: 'HEADERS_TOO_LARGE' },
    '431  no request  HEADERS_TOO_LARGE',
  ],
  [
    'a request whose client disconnected',
    'request',
    { method: 'POST', path: '/', client_gone: true, duration_ms: 5, committed: false, limit: 'X' },
    'no response  POST /  not committed  limit X  client gone  5 ms',
  ],
  [
    'a settlement',
    'settlement',
    { from: 'PENDING', to: 'SUCCESS', ...PAYOUT, utr: '12', world: 'w' },
    'settlement  from PENDING  to SUCCESS  client_ref_id order-1  txn_id TXN1  utr 12  world w',
  ],
  [
    'a reference with control characters',
    'request',
    {
      status: 200,
      route: 'status',
      client_ref_id: 'a\u001b[2J\n[1] INFO: forged\u2028\u2029\u0080\u009b\u202e',
    },
    String.raw`200  status  a\u001b[2J\u000a[1] INFO: forged\u2028\u2029\u0080\u009b\u202e`,
  ],
  [
    'any other line',
    'world dropped',
    { level: 30, time: 1, world: 'w', problems: ['a'] },
    'world dropped  world w  problems ["a"]',
  ],
  [
    'an internal error',
    'internal error in the sandbox',
    { err: { stack: 'Error: oh\u009b\n  at x' } },
    'internal error in the sandbox  Error: oh\\u009b\n  at x',
  ],
])('a terminal shows each kind of entry as one readable line', (_what, msg, fields, text) => {
  expect(readableLine({ msg, ...fields })).toBe(text);
});
