import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startSandbox, type Sandbox, type World } from '../../src/index.ts';
import { sized } from '../support/size.ts';
import { START } from '../support/world/ways-in.ts';
import { CORRECT, CORRECT_IN_ONE_WORLD } from './clients/correct.ts';
import { BY_ORDER, PATIENT, PayoutApi, watchingHangs, type JudgedClient } from './clients/payout-api.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: START, rateLimit: 'off' });
});
afterAll(() => sandbox.close());

/** The errors and warnings about a client that runs in a world of its own. */
async function complaintsOf({ setUp, settings, run }: JudgedClient) {
  const world = sandbox.world();
  await setUp?.(world);
  await PayoutApi.run(world, run);
  const { checks } = await world.referee({ limits: PATIENT, ...settings }, { ended: true });
  const all = checks.flatMap(({ id, findings }) =>
    findings.map(({ severity, lines }) => ({ id, severity, lines })),
  );
  return all.filter(({ severity }) => severity !== 'notice');
}

test.each(CORRECT_IN_ONE_WORLD)('no error and no warning is found in a client that $name', async (client) => {
  expect(await complaintsOf(client)).toEqual([]);
});

const FOLDER = new URL('../../fixtures/scenarios/', import.meta.url);
const textOf = (scenario: string): string => readFileSync(new URL(`${scenario}.yaml`, FOLDER), 'utf8');
/** The shipped scenarios in which no request waits for a test to release it. */
const SCENARIOS = readdirSync(FOLDER)
  .map((file) => file.replace('.yaml', ''))
  .filter((scenario) => !textOf(scenario).includes('hold:'));

/** The client of docs/examples, which users copy. */
interface ExampleClient {
  readonly pay: (world: World, payout: object) => Promise<unknown>;
  readonly statusOf: (world: World, reference: string) => Promise<unknown>;
  readonly salary: { readonly client_ref_id: string };
}
const EXAMPLE = new URL('../../docs/examples/payout-client.mjs', import.meta.url).href;

/** Each client runs in about one scenario, and in all of them with TESTS=long. */
const pairs = SCENARIOS.map((scenario, row) => {
  const clients = CORRECT.filter((_client, column) => (row + column) % sized(30, 1) === 0);
  return { scenario, clients };
});

describe.concurrent.each(pairs)('in the scenario $scenario', ({ scenario, clients }) => {
  test('a correct client has no error and no warning', { timeout: sized(120_000, 300_000) }, async () => {
    const setUp = (world: World): Promise<unknown> => world.use(scenario);
    const judged = clients.map(async ({ name, run }) => {
      const settings = { ...BY_ORDER, limits: PATIENT };
      return { name, complaints: await complaintsOf({ setUp, settings, run }) };
    });
    expect(await Promise.all(judged)).toEqual(clients.map(({ name }) => ({ name, complaints: [] })));
  });
});

test('the client of the documentation has no error and no warning in any scenario', async () => {
  vi.doMock('node:timers/promises', () => ({ setTimeout: () => Promise.resolve() })); // its pauses are real time
  onTestFinished(() => vi.doUnmock('node:timers/promises'));
  const { pay, statusOf, salary } = (await import(EXAMPLE)) as ExampleClient;
  let leave: AbortController;
  const timeouts = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    leave = new AbortController(); // it leaves a request that hangs, and no other, however slow the machine is
    return leave.signal;
  });
  onTestFinished(() => timeouts.mockRestore());
  const passed: string[] = [];
  const scenarios = SCENARIOS.filter((_scenario, nth) => nth % sized(3, 1) === 0);
  for (const scenario of scenarios) {
    const world = sandbox.world();
    await world.use(scenario);
    await watchingHangs(
      world,
      () => leave.abort(),
      async () => {
        await pay(world, salary).catch(() => undefined); // it says that the outcome is unknown
        for (const time of ['0s', '5d']) {
          await world.clock.advance(time);
          await statusOf(world, salary.client_ref_id);
        }
      },
    );
    await world.expectGoodConduct({
      name: scenario,
      failOn: 'warning',
      intent: 'beneficiary_account',
      limits: PATIENT,
    });
    passed.push(scenario);
  }
  expect(passed).toEqual(scenarios);
});
