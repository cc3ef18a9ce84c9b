import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SettingsInput } from '../../src/index.ts';
import { ManualClock } from '../support/world/manual-clock.ts';
import { clientOf } from '../support/sandbox.ts';
import { serverFor } from '../support/server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What the machine's clock shows at the first start. */
const FIRST_MS = Date.UTC(2026, 0, 15, 10, 30);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const at = (ms: number): string => new Date(FIRST_MS + ms).toISOString();

/** Starts a sandbox on a machine whose clock shows this time, and moves only when the test moves it. */
async function startAt(machineMs: number, options: SettingsInput) {
  const wallClock = new ManualClock(machineMs);
  const { sandbox, close } = await serverFor({ magic: 'off', ...options }, wallClock);
  return { wallClock, stop: close, client: (name: string) => clientOf(sandbox.world(`sk_test_${name}`)) };
}

test('over a restart a running clock goes on with wall time, and a frozen one stays where it is', async () => {
  const state = join(temporaryFolder(), 'sandbox.state');
  const scenario: SettingsInput['scenario'] = { settlement: { IMPS: [{ to: 'SUCCESS', after: '1h' }] } };
  const first = await startAt(FIRST_MS, { state, scenario });
  await first.client('running').clock.advance('1d');
  await first.client('frozen').clock.freeze();
  for (const name of ['running', 'frozen']) await first.client(name).pay({ client_ref_id: 'due-in-1h' });
  await first.stop();

  const second = await startAt(FIRST_MS + 5 * HOUR_MS, { state, scenario });
  const statusIn = async (name: string) =>
    (await second.client(name).status({ client_ref_id: 'due-in-1h' })).body.data as object;
  const [running, frozen] = [second.client('running'), second.client('frozen')];
  expect(await running.clock.read()).toMatchObject({ now: at(29 * HOUR_MS), frozen: false });
  expect(await statusIn('running')).toMatchObject({ status: 'SUCCESS', completed_at: at(25 * HOUR_MS) });
  expect(await frozen.clock.read()).toMatchObject({ now: at(0), frozen: true, next_due: at(HOUR_MS) });
  expect(await statusIn('frozen')).toMatchObject({ status: 'PENDING' });
});

test('after a restart a world follows the scenario of the new start, unless it has chosen its own', async () => {
  const state = join(temporaryFolder(), 'sandbox.state');
  const settling = (after: string): SettingsInput['scenario'] => ({
    settlement: { IMPS: [{ to: 'SUCCESS', after }] },
  });
  const first = await startAt(FIRST_MS, { state, scenario: settling('1h') });
  await first.client('follows').pay({ client_ref_id: 'old' });
  await first.client('chose').world.use({ settlement: { IMPS: [{ to: 'FAILED', after: '1h' }] } });
  await first.stop();

  const second = await startAt(FIRST_MS, { state, scenario: settling('3h') });
  const [follows, chose] = [second.client('follows'), second.client('chose')];
  expect(await follows.world.scenario()).toMatchObject({ chosen: false });
  expect(await chose.world.scenario()).toMatchObject({ chosen: true });
  for (const { pay } of [follows, chose]) await pay({ client_ref_id: 'new' });
  expect((await follows.clock.advance('3h')).changes).toMatchObject([
    { client_ref_id: 'old', to: 'SUCCESS', at: at(HOUR_MS) }, // as it was planned when it was made
    { client_ref_id: 'new', to: 'SUCCESS', at: at(3 * HOUR_MS) },
  ]);
  expect((await chose.clock.advance('3h')).changes).toMatchObject([
    { client_ref_id: 'new', to: 'FAILED', at: at(HOUR_MS) },
  ]);
});
