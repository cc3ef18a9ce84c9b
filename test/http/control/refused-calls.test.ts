import { expect, test } from 'vitest';
import { answers, ask, payoutIn, refusal } from '../../support/control.ts';
import { clientFor } from '../../support/sandbox.ts';
import { futureIn } from '../../support/world/snapshot-lines.ts';
import { START } from '../../support/world/ways-in.ts';

/** What is sent, as the body or the query, and the message and the fields of the refusal. */
type Wrong = readonly [sent: unknown, message: string | RegExp, ...fields: string[]];

const texts = (count: number): string[] => Array.from({ length: count }, (_, nth) => `${nth}`);
const headersOf = (count: number): object => Object.fromEntries(texts(count).map((text) => [text, 'x']));
const tooManyValues = { match: { client_ref_id: texts(5001) } };
const TOO_MANY_VALUES = 'body must hold at most 5000 values';
const nested: unknown = JSON.parse('['.repeat(1000) + ']'.repeat(1000));
const TOO_DEEP = 'body must not be nested deeper than 100 levels';
const delay = { effect: { delay: '1s' } };
const respond = (more: object) => ({ effect: { respond: { status: 500, ...more } } });

const DURATION = 'by must be a duration such as 90s, 2h, 3d or PT90S';
const MOVES: readonly Wrong[] = [
  [undefined, 'body must be a JSON object such as {"by":"2h"}', 'body'],
  [{}, /^body must be one of .*"by".*"to".*"until":"idle"/, 'body'],
  [{ by: 5 }, `${DURATION}: 5 has no unit, write 5s for seconds or 5ms for milliseconds`, 'by'],
  [{ to: 'tomorrow' }, /^to must be an ISO 8601 date and time such as/, 'to'],
  [{ to: '2027-02-29T00:00:00' }, 'to must be a date and time that exist', 'to'],
  [{ to: '2026-01-15T10:29:59Z' }, 'The clock never goes backwards: it is 2026-01-15T10:30:00.000Z', 'to'],
  [{ untill: 'idle' }, 'untill is not known here (did you mean until?)', 'untill'],
  [{ by: '3000000d' }, 'The clock of a world ends with the year 9999'],
  [{ by: '9999999999d' }, 'by must be at most 3650000d', 'by'],
];

const AMOUNTS: readonly Wrong[] = [
  [{ amount: '5' }, 'amount must be a number: write 5 without quotes', 'amount'],
  [{ amount: 10.005 }, /at most 2 decimals/, 'amount'],
];

const TRANSITIONS: readonly Wrong[] = [
  [{ to: 'PENDING' }, 'to must be one of SUCCESS, FAILED, REVERSED', 'to'],
  [{ to: 'FAILED', at: 'now' }, /^at is not known/, 'at'],
];

/** The headers that a rule may not set. */
const OWN_HEADERS = (
  'X-Sandbox-Rule Connection Content-Length Date Expect Host HTTP2-Settings Keep-Alive ' +
  'Proxy-Authenticate Proxy-Connection TE Trailer Transfer-Encoding Upgrade'
).split(' ');
const HEADERS = 'effect.respond.headers';
const NAME = 'name must be a name of lower-case letters, digits and hyphens, at most 64 characters';

const RULES: readonly Wrong[] = [
  [undefined, /^body must be /, 'body'],
  [{ name: 'a' }, 'effect is required', 'effect'],
  [answers(500, 'a/b'), NAME, 'name'],
  [
    respond({ status: '500' }),
    'effect.respond.status must be a number: write 500 without quotes',
    'effect.respond.status',
  ],
  [
    { ...delay, match: { header: headersOf(513) } },
    'match.header must be at most 512 headers',
    'match.header',
  ],
  ...OWN_HEADERS.map((name): Wrong => [
    respond({ headers: { [name]: 'a' } }),
    /must not be a header of the connection or of the sandbox itself/,
    `${HEADERS}.${name}`,
  ]),
];

const SCENARIOS: readonly Wrong[] = [
  [undefined, /\{"use":/, 'body'],
  [{ use: 'strict', seed: 1 }, /^seed is not known here/, 'seed'],
  [
    { rules: [{ name: 'A', effect: {} }] },
    /rules\[0\]\.name must .*; rules\[0\]\.effect must have at least one/,
    'rules[0].name',
    'rules[0].effect',
  ],
  [{ rules: [{ name: 'a', ...delay, ...tooManyValues }] }, TOO_MANY_VALUES, 'body'],
  [{ rules: [{ name: 'a', ...respond({ body: nested }) }] }, TOO_DEEP, 'body'],
];

const LONG = { description: 'x'.repeat(33_000) };
const CHECKS: readonly Wrong[] = [
  [{}, 'body must have either text or document', 'body'],
  [{ text: 'seed: 1', document: {} }, 'body must have either text or document', 'body'],
  [{ text: JSON.stringify(LONG) }, /^text .*32768 char/, 'text'],
  [{ document: LONG }, /^document .*32768 char/, 'document'],
];

const EITHER = 'body must have either match or sequence';
const none = { count: { exactly: 0 } };
const VERIFICATIONS: readonly Wrong[] = [
  [undefined, /^body must be/, 'body'],
  [{}, EITHER, 'body'],
  [{ match: {}, sequence: [{}] }, EITHER, 'body'],
  [{ sequence: [{}], count: { exactly: 1 } }, 'body must not have both a count and a sequence', 'body'],
  [{ sequence: texts(101).map(() => ({})) }, 'sequence must have at most 100 items', 'sequence'],
  [{ match: {}, count: {} }, 'count must say exactly, at_least or at_most', 'count'],
  [{ match: {}, count: { at_least: 3, at_most: 1 } }, /^count must be a possible count/, 'count'],
  [tooManyValues, TOO_MANY_VALUES, 'body'],
  [{ match: { a: nested } }, TOO_DEEP, 'body'],
  [
    { sequence: [{}, { remarks: { matches: '[' } }] },
    /is not a regular expression/,
    'sequence[1].remarks.matches',
  ],
  // these would always count 0
  [{ match: { route: 'balance', amount: 5 }, ...none }, /can never match/, 'match.amount'],
  [{ match: { fault: 'conection-reset' }, ...none }, /^match\.fault /, 'match.fault'],
];

const SINCE = 'since must be the id of a request or an ISO 8601 time';
const STATUS = 'status must be a whole number from 100 to 599';
const LIMIT = 'limit must be a whole number from 1 to 1000';
const QUERIES: readonly Wrong[] = [
  ['route=payout', 'route must be one of initiate, status, balance', 'route'],
  ['status=9007199254740993', STATUS, 'status'],
  ['limit=1001', LIMIT, 'limit'],
  ['since=yesterday', SINCE, 'since'],
  ['client_ref_id=', 'client_ref_id must not be empty', 'client_ref_id'],
  ['stauts=200', 'stauts is not known here (did you mean status?)', 'stauts'],
];

test.each<[call: string, wrong: readonly Wrong[]]>([
  ['POST /clock/advance', MOVES],
  ['POST /wallet/credit', AMOUNTS],
  ['POST /wallet/debit', AMOUNTS],
  ['POST /transactions/TXN/transition', TRANSITIONS],
  ['POST /rules', RULES],
  ['PUT /scenario', SCENARIOS],
  ['POST /scenario/check', CHECKS],
  ['POST /requests/verify', VERIFICATIONS],
  ['GET /requests?', QUERIES],
])('%s refuses what is not valid, names every wrong field, and changes nothing', async (call, wrong) => {
  const world = await clientFor({ clock: START });
  const txnId = await payoutIn(world, 'PENDING');
  const before = futureIn(await world.world.snapshot());
  const [method, path] = call.replace('TXN', txnId).split(' ') as [string, string];
  for (const [sent, message, ...fields] of wrong) {
    const answer = await (method === 'GET'
      ? ask(world, method, path + sent)
      : ask(world, method, path, sent));
    const text = typeof message === 'string' ? message : expect.stringMatching(message);
    const refused = refusal(400, 'INVALID_REQUEST', text, fields.length === 0 ? undefined : fields);
    expect({ sent, ...answer }).toMatchObject({ sent, ...refused });
  }
  expect(futureIn(await world.world.snapshot())).toEqual(before);
});

test('a rule with a condition on __proto__ is refused, and not taken without it', async () => {
  const { send } = await clientFor();
  const headers = { 'content-type': 'application/json' };
  const body = '{"match":{"header":{"__proto__":"x"}},"effect":{"delay":"1ms"}}';
  const answer = await send('POST', '/_sandbox/rules', { headers, body });
  expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
});
