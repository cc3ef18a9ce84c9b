import { expect, test } from 'vitest';
import { answers, ask, refusal, rulesOf } from '../../support/control.ts';
import { clientFor } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

const START = '2026-01-15T10:30:00.000Z';
const SETTINGS = { clock: START, settlement: 'manual', openingBalance: 1000 } as const;

/** So many headers. */
const headersOf = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`a${nth}`, 'x']));

/** The headers that a rule may not set. */
const OWN_HEADERS = (
  'X-Sandbox-Rule Connection Content-Length Date Expect Host HTTP2-Settings Keep-Alive ' +
  'Proxy-Authenticate Proxy-Connection TE Trailer Transfer-Encoding Upgrade'
).split(' ');

const respond = (more: object) => ({ effect: { respond: { status: 500, ...more } } });
const delay = { effect: { delay: '1s' } };

testRows<[rule: unknown, message: RegExp, field: string]>([
  [undefined, /^body must be /, 'body'],
  [{ name: 'a' }, /^effect is required$/, 'effect'],
  [{ effect: {} }, /^effect must have at least one effect$/, 'effect'],
  [
    answers(500, 'a/b'),
    /^name must be a name of lower-case letters, digits and hyphens, at most 64 characters$/,
    'name',
  ],
  [respond({ status: '500' }), /^effect\.respond\.status must be a number$/, 'effect.respond.status'],
  [
    respond({ headers: headersOf(513) }),
    /^effect\.respond\.headers must be at most 512 headers$/,
    'effect.respond.headers',
  ],
  [
    { ...delay, match: { header: headersOf(513) } },
    /^match\.header must be at most 512 headers$/,
    'match.header',
  ],
  ...OWN_HEADERS.map((name): [object, RegExp, string] => [
    respond({ headers: { [name]: 'a' } }),
    /must not be a header of the connection or of the sandbox itself/,
    `effect.respond.headers.${name}`,
  ]),
])(
  'a rule that is not valid is refused with the wrong field, and no rule is added',
  async (rule, message, field) => {
    const world = await clientFor(SETTINGS);
    expect(await ask(world, 'POST', '/rules', rule)).toMatchObject(
      refusal(400, 'INVALID_REQUEST', expect.stringMatching(message), [field]),
    );
    expect(await rulesOf(world)).toEqual([]);
  },
);

test.each([
  [
    'a condition on __proto__',
    '{"match":{"header":{"__proto__":"x"}},"effect":{"delay":"1ms"}}',
    'INVALID_JSON',
    'valid JSON',
  ],
  [
    'a number beyond all numbers',
    '{"effect":{"respond":{"status":200,"body":{"a":1e400}}}}',
    'INVALID_REQUEST',
    'effect.respond.body.a is too large a number',
  ],
])('a rule with %s is refused, and not taken without it', async (_what, body, code, message) => {
  const { send } = await clientFor();
  const answer = await send('POST', '/_sandbox/rules', {
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(answer).toMatchObject({ status: 400, body: { code, message: expect.stringContaining(message) } });
});
