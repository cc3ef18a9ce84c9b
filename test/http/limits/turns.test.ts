import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { connectSandbox } from '../../../src/index.ts';
import { startServer } from '../../../src/server.ts';
import { readTextInSteps } from '../../../src/scenario/scenario-text.ts';
import { readSettings } from '../../../src/settings.ts';
import { ask } from '../../support/control.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { clientOf, PAYOUT, sandboxFor, type Client, type Seen } from '../../support/sandbox.ts';
import { linesOf, resealed } from '../../support/snapshot-lines.ts';

/** How long single requests may keep all others waiting, in work and not in time. `npm run bench:holds` measures the time. */

class CountingClock extends ManualClock {
  turns = 0;

  override async yieldToEventLoop(): Promise<void> {
    this.turns += 1;
  }
}

const ADMIN_TOKEN = 'admin-token-of-the-turns';

const many = <T>(count: number, item: (nth: number) => T): T[] =>
  Array.from({ length: count }, (_, nth) => item(nth));

const rule = (nth: number) => ({ name: `r${nth}`, effect: { delay: '1ms' } });
const longRule = (nth: number) => ({
  name: `r${nth}`,
  effect: { respond: { status: 200, body: many(2000, () => []) } },
});

/** The snapshot of the world with more lines in it. */
async function snapshotWith({ world }: Client, items: readonly object[]): Promise<string> {
  const lines = linesOf(await world.snapshot());
  lines.splice(-2, 0, ...items.map((item) => JSON.stringify(item)));
  return resealed(`${lines.join('\n')}\n`);
}

const putState = (client: Client, body: string): Promise<Seen> =>
  client.send('PUT', '/_sandbox/state', { headers: { 'content-type': 'application/x-ndjson' }, body });

async function scenarioInSnapshot({ world }: Client): Promise<string> {
  const [head, first = '', ...rest] = linesOf(await world.snapshot());
  const ofWorld = JSON.parse(first) as { scenario: { source: { document: unknown } } };
  ofWorld.scenario.source.document = { rules: many(500, rule) };
  return resealed(`${[head, JSON.stringify(ofWorld), ...rest].join('\n')}\n`);
}

test.each<[string, (client: Client) => Promise<() => Promise<Seen>>, number, number]>([
  ['the first list of scenarios', async (client) => () => ask(client, 'GET', '/scenarios'), 200, 20],
  ['the first OpenAPI document', async (client) => () => ask(client, 'GET', '/openapi.json'), 200, 30],
  [
    'a scenario of 1,000 rules',
    async (client) => () => ask(client, 'PUT', '/scenario', { rules: many(1000, rule) }),
    200,
    6,
  ],
  [
    'a scenario of 4,000 wrong rules',
    async (client) => () => ask(client, 'PUT', '/scenario', { rules: many(4000, () => ({ nam: 1 })) }),
    400,
    12,
  ],
  [
    'a snapshot with a scenario of 500 rules',
    async (client) => {
      const text = await scenarioInSnapshot(client);
      return () => putState(client, text);
    },
    200,
    3,
  ],
  [
    'a snapshot with 30 long rules on top',
    async (client) => {
      const items = many(30, (nth) => ({ rule: longRule(nth) }));
      const text = await snapshotWith(client, items);
      return () => putState(client, text);
    },
    200,
    2,
  ],
  [
    'an explanation of 200 rules',
    async (client) => {
      await client.world.use({ rules: many(200, rule) });
      return () => ask(client, 'POST', '/rules/explain', { route: 'initiate', body: PAYOUT });
    },
    200,
    10,
  ],
  [
    'a list of 250 worlds',
    async ({ world }) => {
      const sandbox = connectSandbox({ url: world.url, adminToken: ADMIN_TOKEN });
      await Promise.all(many(250, (nth) => clientOf(sandbox.world(`sk_test_${nth}`)).balance()));
      return async () => {
        expect(await sandbox.worlds()).toHaveLength(250);
        return { status: 200 } as Seen;
      };
    },
    200,
    3,
  ],
])('other requests can run during %s', async (_what, prepare, status, turns) => {
  const clock = new CountingClock();
  const settings = readSettings({ port: '0', adminToken: ADMIN_TOKEN, rateLimit: 'off' }, {});
  const server = await startServer(settings, clock, pino({ level: 'silent' }));
  onTestFinished(() => server.close());
  const client = clientOf(connectSandbox({ url: server.url }).world());
  const send = await prepare(client);
  const before = clock.turns;
  expect((await send()).status).toBe(status);
  expect(clock.turns - before).toBeGreaterThanOrEqual(turns);
});

test('other requests can run while 64 KiB of YAML are read', () => {
  const text = `rules:\n${many(1000, (nth) => `  - { name: r${nth}, match: { route: status }, effect: { delay: 1ms } }\n`).join('')}`;
  const steps = readTextInSteps(text);
  let turns = 0;
  let step = steps.next();
  for (; step.done !== true; turns += 1) step = steps.next();
  expect(step.value.input).toEqual(parse(text));
  expect(turns).toBeGreaterThanOrEqual(10);
});

test.each([
  [
    'PUT',
    '/scenario',
    { rules: [rule(0), { ...rule(1), match: { client_ref_id: many(5000, String) } }] },
    'rules[1]',
  ],
  ['PUT', '/scenario', { settlement: { IMPS: many(5001, () => 0) } }, 'body'],
  ['POST', '/rules', { match: { client_ref_id: many(5001, String) }, effect: { delay: '1ms' } }, 'body'],
  ['POST', '/requests/verify', { match: { client_ref_id: many(5001, String) } }, 'body'],
])('%s %s refuses a part with more than 5,000 values', async (method, path, body, field) => {
  const answer = await ask((await sandboxFor()).client(), method, path, body);
  expect([answer.status, answer.body.message]).toEqual([400, `${field} must hold at most 5000 values`]);
});
