import { expect, test } from 'vitest';
import { ask } from '../../support/control.ts';
import { clientFor, sandboxFor } from '../../support/sandbox.ts';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;

test('the list of scenarios has their descriptions and names the active one', async () => {
  const { client } = await sandboxFor({ scenario: 'happy-fast' });
  const { in_force, scenarios } = (await ask(client(), 'GET', '/scenarios')).body;
  expect(in_force).toBe('happy-fast');
  const names = scenarios.map(({ name }: { name: string }) => name);
  expect(names).toEqual(names.toSorted());
  expect(names).toEqual(expect.arrayContaining(['default', 'happy-fast', 'rate-limited', 'strict']));
  for (const { name, description } of scenarios) {
    expect([name, description]).toEqual([name, expect.stringMatching(/\w/)]);
  }
});

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
  const document = { seed: 7, outcomes: [{ timeline: [{ to: 'FAILED', after: '2s' }] }] };
  const { body } = await ask(await clientFor(), 'POST', '/scenario/check', { document });
  const text = lines('seed: 7', 'outcomes:', '  - timeline:', '      - to: FAILED', '        after: 2s');
  expect(body).toMatchObject({ text, document });
});

test('a wrong value and a rule that is never reached are reported at their lines', async () => {
  const world = await clientFor();
  const checked = async (...text: string[]) =>
    (await ask(world, 'POST', '/scenario/check', { text: lines(...text) })).body;
  expect(await checked('seed: 7', 'rate_limit: often')).toMatchObject({
    document: null,
    problems: [{ line: 2, column: 13, path: 'rate_limit' }],
  });
  expect(
    await checked('rules:', '  - effect: { respond: 500 }', '  - effect: { respond: 503 }'),
  ).toMatchObject({ problems: [], warnings: [{ line: 3, path: 'rules[1]' }] });
});
