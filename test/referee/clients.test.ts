import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CHECK_IDS } from '../../src/contract/conduct.ts';
import { startSandbox, type Sandbox, type World } from '../../src/index.ts';
import { sized } from '../support/size.ts';
import { START } from '../support/world/ways-in.ts';
import { CORRECT } from './clients/correct.ts';
import { FAULTY } from './clients/faulty.ts';
import { PATIENT, PayoutApi } from './clients/payout-api.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: START, rateLimit: 'off' });
});
afterAll(() => sandbox.close());

test.each(FAULTY.map((client) => [client.check, client.severity, client.habit, client] as const))(
  '%s (%s) is found in a client with %s',
  async (check, severity, _habit, { scenario, rule, settings, run }) => {
    const world = sandbox.world();
    if (scenario !== undefined) await world.use(scenario);
    if (rule !== undefined) await world.rule(rule);
    await PayoutApi.run(world, run);
    const { checks } = await world.referee(settings ?? {});
    const found = checks.filter(({ findings }) => findings.length > 0);
    expect(found.find(({ id }) => id === check)).toMatchObject({ severity });
    // one habit is one finding: whatever else is found is no worse than a warning of the same requests
    expect(found.filter((other) => other.id !== check && other.severity === 'error')).toEqual([]);
  },
);

test('for every check there is a client that it finds', () => {
  expect(new Set(FAULTY.map(({ check }) => check))).toEqual(new Set(CHECK_IDS));
});

const FOLDER = new URL('../../fixtures/scenarios/', import.meta.url);
const textOf = (scenario: string): string => readFileSync(new URL(`${scenario}.yaml`, FOLDER), 'utf8');
/** The shipped scenarios in which no request waits for a test to release it. */
const SCENARIOS = readdirSync(FOLDER)
  .map((file) => file.replace('.yaml', ''))
  .filter((scenario) => !textOf(scenario).includes('hold:'));
const hangs = (scenario: string): boolean => /\bhang/.test(textOf(scenario));

/** The client of docs/examples, which users copy. */
interface ExampleClient {
  readonly pay: (world: World, payout: object) => Promise<unknown>;
  readonly statusOf: (world: World, reference: string) => Promise<unknown>;
  readonly salary: { readonly client_ref_id: string };
}
const EXAMPLE = new URL('../../docs/examples/payout-client.mjs', import.meta.url).href;

/** Each client runs in every fifteenth scenario, and in all of them with TESTS=long. */
const pairs = SCENARIOS.map((scenario, row) => {
  const clients = CORRECT.filter((_client, column) => (row + column) % sized(15, 1) === 0);
  return { scenario, clients };
});

describe.concurrent.each(pairs)('in the scenario $scenario', ({ scenario, clients }) => {
  test('a correct client has no error and no warning', { timeout: sized(120_000, 300_000) }, async () => {
    const complaints = await Promise.all(
      clients.map(async ({ name, run }) => {
        const world = sandbox.world();
        await world.use(scenario);
        await PayoutApi.run(world, run);
        const { checks } = await world.referee({
          intent: { client_ref_id: '^(order-\\d+)' },
          limits: PATIENT,
        });
        return checks
          .flatMap(({ id, findings }) => findings.map((found) => ({ name, id, ...found })))
          .filter(({ severity }) => severity !== 'notice');
      }),
    );
    expect(complaints.flat()).toEqual([]);
  });
});

/** The client of the documentation, which waits that long for an answer: a module of its own for each time. */
async function exampleClient(timeoutMs: number): Promise<ExampleClient> {
  vi.stubEnv('PAYOUT_TIMEOUT_MS', String(timeoutMs));
  onTestFinished(() => void vi.unstubAllEnvs());
  return (await import(`${EXAMPLE}?timeout=${timeoutMs}`)) as ExampleClient;
}

test('the client of the documentation has no error and no warning in any scenario', async () => {
  const hasty = await exampleClient(1000);
  const patient = await exampleClient(20_000); // a busy machine must not look like a hang
  const judged = SCENARIOS.map(async (scenario) => {
    const { pay, statusOf, salary } = hangs(scenario) ? hasty : patient;
    const world = sandbox.world();
    await world.use(scenario);
    await pay(world, salary).catch(() => undefined); // it says that the outcome is unknown
    for (const time of ['0s', '5d']) {
      await world.clock.advance(time);
      await statusOf(world, salary.client_ref_id);
    }
    await world.expectGoodConduct({
      name: scenario,
      failOn: 'warning',
      intent: 'beneficiary_account',
      limits: PATIENT,
    });
  });
  expect(await Promise.all(judged)).toHaveLength(SCENARIOS.length);
});
