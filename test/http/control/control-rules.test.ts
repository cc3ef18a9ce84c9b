import { expect, test } from 'vitest';
import { answers, ask, refusal, rulesOf, statusOf } from '../../support/control.ts';
import { PAYOUT, sandboxFor } from '../../support/sandbox.ts';

const START = '2026-01-15T10:30:00.000Z';
const SETTINGS = { clock: START, settlement: 'manual', openingBalance: 1000 } as const;

/** So many headers. */
const headersOf = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`a${nth}`, 'x']));

test('rules of a world apply before those of its scenario, the newest first', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  await ask(world, 'PUT', '/scenario', { rules: [answers(503, 'of-the-scenario')] });
  expect(await statusOf(world)).toBe(503);
  const put = await ask(world, 'POST', '/rules', { ...answers(400), times: 1 });
  expect(put).toMatchObject({
    status: 201,
    body: { id: 'world/rule-1', name: 'rule-1', from: 'world', description: '', matched: 0, taken: 0 },
  });
  expect(put.body.rule).toEqual({ name: 'rule-1', ...answers(400), times: 1 });
  await ask(world, 'POST', '/rules', { ...answers(500, 'mine'), times: 2 });
  const seen = [];
  for (let nth = 0; nth < 5; nth += 1) seen.push(await statusOf(world));
  expect(seen).toEqual([500, 500, 400, 503, 503]);
  expect(await rulesOf(world)).toEqual([
    ['world/mine', 'world', 5, 2],
    ['world/rule-1', 'world', 3, 1],
    ['inline/of-the-scenario', 'scenario', 3, 3],
  ]);
});

test('a response that a rule made names the rule', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  await ask(world, 'POST', '/rules', answers(500, 'mine'));
  expect((await world.pay()).headers.get('x-sandbox-rule')).toBe('world/mine');
  expect((await world.balance()).headers.get('x-sandbox-rule')).toBeNull();
});

test('a rule with a known name replaces the old one, moves to the front and counts from 0', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  await ask(world, 'POST', '/rules', answers(500, 'one'));
  expect(await statusOf(world)).toBe(500);
  await ask(world, 'POST', '/rules', answers(400, 'two'));
  expect(await statusOf(world)).toBe(400);
  await ask(world, 'POST', '/rules', answers(503, 'one'));
  expect(await rulesOf(world)).toEqual([
    ['world/one', 'world', 0, 0],
    ['world/two', 'world', 1, 1],
  ]);
  expect(await statusOf(world)).toBe(503);
});

test('rules of a world are removed one by one or all at once; those of the scenario stay', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  await ask(world, 'PUT', '/scenario', { rules: [answers(503, 'of-the-scenario')] });
  for (const name of ['one', 'two', 'three']) await ask(world, 'POST', '/rules', answers(500, name));
  await ask(world, 'DELETE', '/rules/two');
  const ids = (await rulesOf(world)).map(([id]: string[]) => id);
  expect(ids).toEqual(['world/three', 'world/one', 'inline/of-the-scenario']);
  for (const name of ['two', 'of-the-scenario']) {
    const message = `This world has no override ${name}: there are three, one. Rules of a scenario cannot be removed`;
    expect(await ask(world, 'DELETE', `/rules/${name}`)).toMatchObject(
      refusal(404, 'RULE_NOT_FOUND', message),
    );
  }
  await ask(world, 'DELETE', '/rules');
  expect(await rulesOf(world)).toEqual([['inline/of-the-scenario', 'scenario', 0, 0]]);
  expect(await statusOf(world)).toBe(503);
});

test('rules of a world keep their counts when the scenario changes; those of the scenario count from 0', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  const scenario = { rules: [answers(503, 'of-the-scenario')] };
  await ask(world, 'PUT', '/scenario', scenario);
  await ask(world, 'POST', '/rules', { ...answers(500, 'twice'), times: 2 });
  expect([await statusOf(world), await statusOf(world), await statusOf(world)]).toEqual([500, 500, 503]);
  await ask(world, 'PUT', '/scenario', scenario);
  expect(await rulesOf(world)).toEqual([
    ['world/twice', 'world', 3, 2],
    ['inline/of-the-scenario', 'scenario', 0, 0],
  ]);
  expect(await statusOf(world)).toBe(503);
});

test('rules of a world apply before those of a scenario that a request chooses by header', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  await ask(world, 'POST', '/rules', { ...answers(418, 'first'), times: 1 });
  const chosen = async () => {
    const headers = { 'content-type': 'application/json', 'x-sandbox-scenario': 'server-error' };
    const seen = await world.send('POST', '/payout/initiate', { headers, body: JSON.stringify(PAYOUT) });
    return [seen.status, seen.headers.get('x-sandbox-rule')];
  };
  expect(await chosen()).toEqual([418, 'world/first']);
  expect((await chosen())[0]).toBe(500);
  expect(await statusOf(world)).toBe(200);
  expect((await rulesOf(world))[0]).toEqual(['world/first', 'world', 3, 1]);
});

test('a world has at most a hundred rules of its own, each of which can still be replaced', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  for (let nth = 1; nth <= 100; nth += 1) await world.world.rule({ effect: { respond: { status: 500 } } });
  expect(await ask(world, 'POST', '/rules', answers(503))).toMatchObject(
    refusal(409, 'TOO_MANY_RULES', expect.stringContaining('DELETE /_sandbox/rules/NAME')),
  );
  expect((await ask(world, 'POST', '/rules', answers(503, 'rule-7'))).status).toBe(201);
  expect(await statusOf(world)).toBe(503);
  expect(await rulesOf(world)).toHaveLength(100);
});

test.each<[string, unknown, unknown, string[]]>([
  ['nothing', undefined, expect.stringMatching(/^body must be /), ['body']],
  ['no effect', { name: 'a' }, 'effect is required', ['effect']],
  ['an effect that does nothing', { effect: {} }, 'effect must have at least one effect', ['effect']],
  [
    'a misspelt effect',
    { effect: { delai: '1s' } },
    'effect.delai is not known here (did you mean delay?)',
    ['effect.delai'],
  ],
  [
    'a name with a slash',
    { ...answers(500, 'a/b') },
    'name must be a name of lower-case letters, digits and hyphens, at most 64 characters',
    ['name'],
  ],
  [
    'a status as text',
    { effect: { respond: { status: '500' } } },
    'effect.respond.status must be a number',
    ['effect.respond.status'],
  ],
  [
    'an invalid regular expression',
    { match: { client_ref_id: { matches: '(' } }, effect: { delay: '1s' } },
    expect.stringContaining('is not a regular expression'),
    ['match.client_ref_id.matches'],
  ],
  [
    'a delay of a day',
    { effect: { delay: '1d' } },
    'effect.delay must be at most 1h, since it is wall time',
    ['effect.delay'],
  ],
  [
    'more headers in its response than a request may have',
    { effect: { respond: { status: 500, headers: headersOf(513) } } },
    'effect.respond.headers must be at most 512 headers',
    ['effect.respond.headers'],
  ],
  [
    'conditions on more headers than a request may have',
    { match: { header: headersOf(513) }, effect: { delay: '1s' } },
    'match.header must be at most 512 headers',
    ['match.header'],
  ],
  ...[
    'X-Sandbox-Rule',
    'Connection',
    'Content-Length',
    'Date',
    'Expect',
    'Host',
    'HTTP2-Settings',
    'Keep-Alive',
    'Proxy-Authenticate',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
  ].map((name): [string, object, unknown, string[]] => [
    `the header ${name}`,
    { effect: { respond: { status: 500, headers: { [name]: 'a' } } } },
    expect.stringContaining('must not be a header of the connection or of the sandbox itself'),
    [`effect.respond.headers.${name}`],
  ]),
])(
  'a rule with %s is refused with the wrong field, and no rule is added',
  async (_what, body, message, fields) => {
    const { client } = await sandboxFor(SETTINGS);
    const world = client();
    expect(await ask(world, 'POST', '/rules', body)).toMatchObject(
      refusal(400, 'INVALID_REQUEST', message, fields),
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
  const { send } = (await sandboxFor()).client();
  const answer = await send('POST', '/_sandbox/rules', {
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(answer).toMatchObject({ status: 400, body: { code, message: expect.stringContaining(message) } });
});
