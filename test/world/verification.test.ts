import { expect } from 'vitest';
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
