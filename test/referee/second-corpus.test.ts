import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../src/index.ts';
import { START } from '../support/world/ways-in.ts';
import { PATIENT, PayoutApi } from './clients/payout-api.ts';
import { SECOND_CORRECT, type SecondClient } from './clients/second-correct.ts';
import { SECOND_FAULTY } from './clients/second-faulty.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: START, rateLimit: 'off' });
});
afterAll(() => sandbox.close());

async function findingsOf({ setUp, settings, run }: SecondClient) {
  const world = sandbox.world();
  await setUp?.(world);
  await PayoutApi.run(world, async (api) => {
    await run(api);
  });
  const { checks } = await world.referee({ limits: PATIENT, ...settings });
  return checks.flatMap(({ id, findings }) =>
    findings.map(({ severity, lines }) => ({ id, severity, lines })),
  );
}

test.each(SECOND_FAULTY.map((client) => [client.check, client.severity, client.habit, client] as const))(
  '%s (%s) is found in a client with %s',
  async (check, severity, _habit, client) => {
    const findings = await findingsOf(client);
    expect(findings.find(({ id }) => id === check)).toMatchObject({ severity });
    expect(findings.filter((other) => other.id !== check && other.severity === 'error')).toEqual([]);
  },
);

test.each(SECOND_CORRECT.map((client) => [client.name, client] as const))(
  'no error and no warning is found in a client that %s',
  async (_name, client) => {
    const findings = await findingsOf(client);
    expect(findings.filter(({ severity }) => severity !== 'notice')).toEqual([]);
  },
);
