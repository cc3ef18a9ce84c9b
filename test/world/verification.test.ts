import { expect, test } from 'vitest';
import type { KeptRequest } from '../../src/world/journal/kept-request.ts';
import { verify as verifyInSteps } from '../../src/world/journal/verification.ts';
import type { VerifyResponse } from '../../src/contract/control-responses.ts';
import type { Verification } from '../../src/contract/control.ts';
import { testRows } from '../support/test-rows.ts';

/** The response once all requests have been compared. */
function verify(...given: Parameters<typeof verifyInSteps>): VerifyResponse {
  const steps = verifyInSteps(...given);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const ANSWERED: KeptRequest = {
  nth: 1,
  requestId: 'req-1',
  route: 'initiate',
  method: 'GET',
  url: '/12345',
  headers: {},
  outcome: 'answered',
  atMs: 0,
  wallMs: 0,
  position: 1,
  server: '',
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

testRows<[VerifyResponse['result'], NonNullable<Verification['count']>]>([
  // one request matches, and of two that were dropped nobody knows
  ['passed', { at_least: 1 }],
  ['passed', { at_most: 3 }],
  ['unknown', { exactly: 1 }],
  ['unknown', { at_most: 2 }],
  ['unknown', { at_least: 3 }],
  ['failed', { exactly: 0 }],
  ['failed', { at_least: 4 }],
])('a count is %s if requests that were dropped cannot change that, and else unknown', (result, count) => {
  expect(verify([ANSWERED], 2, { count }, () => undefined)).toMatchObject({
    result,
    passed: result === 'passed',
  });
});

test('a verification with too many patterns together is refused where they are', () => {
  const patterns = (count: number) => ({
    header: Object.fromEntries(Array.from({ length: count }, (_, nth) => [`x-${nth}`, { matches: 'a' }])),
  });
  const refused = (asked: Verification): readonly string[] => {
    const paths: string[] = [];
    const { passed } = verify([ANSWERED], 0, asked, (path) => void paths.push(path.join('.')));
    expect(passed).toBe(false);
    return paths;
  };
  expect(refused({ match: patterns(20) })).toEqual([]);
  expect(refused({ match: patterns(21) })).toEqual(['match']);
  expect(refused({ match: patterns(10), sequence: [patterns(5), patterns(6)] })).toEqual(['sequence']);
});

test('of what was expected and what came, a failure shows the start of a long value', () => {
  const shown = (match: Verification['match']): string =>
    verify([ANSWERED], 0, { match }, () => undefined).message;
  const [fits, long] = ['x'.repeat(198), 'x'.repeat(199)]; // with their quotes, up to 200 characters
  expect(shown({ client_ref_id: fits })).toContain(`client_ref_id "${fits}"\n`);
  expect(shown({ client_ref_id: long })).toContain(`client_ref_id "${long}…\n`);
  expect(shown({ route: 'status' })).toMatch(/^0 requests match; expected at least 1\n/);
});

test('a failure says how many there are and what is missing, of one thing in the singular', () => {
  const said = (asked: Verification, outcome: KeptRequest['outcome'] = 'answered'): string =>
    verify([{ ...ANSWERED, outcome }], 0, asked, () => undefined).message;
  expect(said({ match: {}, count: { exactly: 0 } })).toMatch(/^1 request matches; expected exactly 0\n/);
  expect(said({ match: { amount: 5, status: 402 } })).toMatch(
    /no amount, expected 5 \(status differs too\)$/,
  );
  expect(said({ match: { amount: 5 } }, 'pending')).toContain('#1 GET /12345 pending: ');
});
