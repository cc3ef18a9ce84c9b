import { expect, test } from 'vitest';
import { ask, refusal } from '../../support/control.ts';
import { clientFor, sandboxFor } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

const START = '2026-01-15T10:30:00.000Z';
const SETTINGS = { clock: START, settlement: 'manual', openingBalance: 1000 } as const;

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

const notAnObject = /^body must be /;

testRows<[body: unknown, message: RegExp, ...fields: string[]]>([
  [undefined, /\{"use":/, 'body'],
  [[], notAnObject, 'body'],
  [5, notAnObject, 'body'],
  [
    { use: 'rate-limitd' },
    /^There is no scenario rate-limitd \(did you mean rate-limited\?\)\. The list of scenarios has all \d+$/,
  ],
  [{ use: '../package' }, /^There is no scenario /],
  [{ use: '__proto__' }, /^There is no scenario /],
  [{ use: 5 }, /^use must be a text/, 'use'],
  [{ use: 'strict', seed: 1 }, /^seed is not known here/, 'seed'],
  [{ rate_limits: 'off' }, /^rate_limits is not known here \(did you mean rate_limit\?\)$/, 'rate_limits'],
  [
    { rules: [{ name: 'A', effect: {} }] },
    /rules\[0\]\.name must .*; rules\[0\]\.effect must have at least one/,
    'rules[0].name',
    'rules[0].effect',
  ],
])(
  'a scenario choice that is not valid is refused with every wrong field, and the world keeps its scenario',
  async (body, message, ...fields) => {
    const world = await clientFor(SETTINGS);
    const [status, code] =
      fields.length === 0 ? ([404, 'SCENARIO_NOT_FOUND'] as const) : ([400, 'INVALID_REQUEST'] as const);
    expect(await ask(world, 'PUT', '/scenario', body)).toMatchObject(
      refusal(status, code, expect.stringMatching(message), fields.length === 0 ? undefined : fields),
    );
    expect((await ask(world, 'GET', '/scenario')).body).toMatchObject({ name: 'default', chosen: false });
  },
);
