import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { worldIdOf } from '../../../src/payout/identity.ts';
import type { SettingsInput } from '../../../src/index.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { payRequest, rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { clientOf, type Client } from '../../support/sandbox.ts';
import { serverFor } from '../../support/server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const HUNG = 'sk_test_hung';
const WATCHED = 'sk_test_watched';
const HANGS = {
  rules: [{ name: 'hung', match: { client_ref_id: 'hung' }, effect: { fault: 'hang' } }],
} as const;
const EVENTUALLY = { timeout: 20_000, interval: 5 };

const READ_EVENTS = rawRequest('GET /_sandbox/events', { authorization: `Bearer ${WATCHED}` });

/** A sandbox whose wall clock the test moves. It has one timer for idle worlds, and one for the heartbeat of each reader. */
async function sandboxWithManualClock(settings: SettingsInput = {}) {
  const clock = new ManualClock();
  const server = await serverFor({ scenario: HANGS, ...settings }, clock);
  const client = (key: string): Client => clientOf(server.sandbox.world(key));
  await server.worlds.use(worldIdOf(WATCHED));
  return { ...server, clock, client, idleTimers: clock.timers };
}

test('a reader whose client has already disconnected is not kept', async () => {
  const { url, clock, idleTimers } = await sandboxWithManualClock();
  const socket = rawSocket(url);
  socket.write(Buffer.concat([READ_EVENTS, READ_EVENTS]));
  await expect.poll(() => clock.timers, EVENTUALLY).toBe(idleTimers + 1);
  socket.destroy();
  await expect.poll(() => clock.timers, EVENTUALLY).toBe(idleTimers);
});

test('a sandbox with a reader and a hanging payout stops, writes its state and leaves no timers behind', async () => {
  const state = join(temporaryFolder(), 'sandbox.state');
  const { url, clock, idleTimers, close } = await sandboxWithManualClock({ state });
  rawSocket(url).write(payRequest(HUNG, { client_ref_id: 'hung' }));
  rawSocket(url).write(READ_EVENTS);
  await expect.poll(() => clock.timers, EVENTUALLY).toBe(idleTimers + 1); // that of the reader
  await close();
  expect({ timers: clock.timers, isWritten: existsSync(state) }).toEqual({ timers: 0, isWritten: true });
});
