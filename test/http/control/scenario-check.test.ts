import { expect, test } from 'vitest';
import { ask, refusal } from '../../support/control.ts';
import { clientFor, sandboxFor } from '../../support/sandbox.ts';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;

test('a scenario as text is checked without using it, and returned as the JSON that chooses it', async () => {
  const world = await clientFor();
  const text = lines('# slow', 'rules:', '  - match: { route: initiate }', '    effect: { respond: 503 }');
  const checked = (await ask(world, 'POST', '/scenario/check', { text })).body;
  const document = { rules: [{ match: { route: 'initiate' }, effect: { respond: 503 } }] };
  expect(checked).toEqual({ text, document, problems: [], more: 0, warnings: [] });
  expect((await world.pay()).status).toBe(200);
  await ask(world, 'PUT', '/scenario', checked.document);
  expect((await world.pay({ client_ref_id: 'order-2' })).status).toBe(503);
});

test('the scenario of a world can be shown as YAML', async () => {
  const world = await clientFor();
  const document = { seed: 7, outcomes: [{ timeline: [{ to: 'FAILED', after: '2s' }] }] };
  const { body } = await ask(world, 'POST', '/scenario/check', { document });
  expect(body.text).toBe(
    lines('seed: 7', 'outcomes:', '  - timeline:', '      - to: FAILED', '        after: 2s'),
  );
  expect(body.document).toEqual(document);
});

test.each([
  ['a wrong value', lines('seed: 7', 'rate_limit: often'), [2, 13, 'rate_limit']],
  [
    'an unknown field',
    lines('rules:', '  - efect: {}', '    effect: { respond: 500 }'),
    [2, 5, 'rules[0].efect'],
  ],
  ['broken YAML', lines('seed: 7', 'rules: ['), [3, 1, '']],
  [
    'an unknown dialect',
    lines('dialect:', '  extends: wrong', '  client_ref_id: {}'),
    [2, 12, 'dialect.extends'],
  ],
])('%s in the text of a scenario is reported at its line', async (_what, text, [line, column, path]) => {
  const { client } = await sandboxFor();
  const { body } = await ask(client(), 'POST', '/scenario/check', { text });
  expect(body).toMatchObject({ document: null, problems: [{ line, column, path }] });
});

test('a rule that is never reached is a warning at its line', async () => {
  const { client } = await sandboxFor();
  const text = lines('rules:', '  - effect: { respond: 500 }', '  - effect: { respond: 503 }');
  const { body } = await ask(client(), 'POST', '/scenario/check', { text });
  expect(body).toMatchObject({ problems: [], warnings: [{ line: 3, path: 'rules[1]' }] });
});

test('a scenario of more than 32,768 characters is not checked, as text or as a document', async () => {
  const { client } = await sandboxFor();
  const document = { description: 'x'.repeat(33_000) };
  const [asText, asJson] = [
    await ask(client(), 'POST', '/scenario/check', { text: JSON.stringify(document) }),
    await ask(client(), 'POST', '/scenario/check', { document }),
  ];
  expect(asText).toMatchObject(refusal(400, 'INVALID_REQUEST', expect.stringMatching(/text .*32768 char/)));
  expect(asJson).toMatchObject(
    refusal(400, 'INVALID_REQUEST', expect.stringMatching(/document .*32768 char/)),
  );
});

test.each([{}, { text: 'seed: 1', document: {} }, { text: 7 }])('refuses to check %j', async (body) => {
  const { client } = await sandboxFor();
  const refused = await ask(client(), 'POST', '/scenario/check', body);
  expect(refused).toMatchObject(refusal(400, 'INVALID_REQUEST', expect.stringMatching(/text/)));
});
