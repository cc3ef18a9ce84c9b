import { ControlClient } from '../../client/control-client.ts';
import { TestWorld } from '../../client/test-world.ts';
import type { ConductReports, RefereeSettingsInput } from '../../contract/conduct.ts';
import { runClient, type Client } from '../../hunt/world-runs.ts';
import { evidenceOf } from '../../http/referee/evidence.ts';
import { readUnlessDropped, type WorldLog } from '../../log/world-log.ts';
import type { CommandRun } from '../../matrix/cells.ts';
import { stopwatchMs, systemClock } from '../../platform/system-clock.ts';
import type { Evidence } from '../../referee/case.ts';
import type { Settings } from '../../settings.ts';
import { startOwnServer } from '../own-server.ts';

/** The key of a client that uses no other. */
const KEY = 'sk_test_matrix';
/** What is asked for, so that the evidence has every payout, whether or not the journal still knows it. */
const ALL_PAYOUTS = { expect: [] };

async function evidenceOfAll(worlds: WorldLog, wallNowMs: number): Promise<readonly Evidence[]> {
  const all: Evidence[] = [];
  for (const worldId of await worlds.ids()) {
    const evidence = await worlds.visit(worldId, async (world) => {
      const journal = await world.journal.read();
      return readUnlessDropped(world, (state) => evidenceOf(state, journal, ALL_PAYOUTS, wallNowMs));
    });
    if (evidence !== null) all.push(evidence);
  }
  return all;
}

/**
 * Runs a client once against a sandbox of its own, so that every world behaves alike, whichever keys the client uses.
 *
 * @param conduct the settings of the referee
 * @param limitMs a client that runs for longer is ended, and is stuck
 */
export async function runOnce(
  settings: Settings,
  conduct: RefereeSettingsInput,
  client: Client,
  limitMs: number,
  stop: AbortSignal,
): Promise<CommandRun> {
  const server = await startOwnServer(settings);
  try {
    const admin = new ControlClient(server.url, server.adminToken);
    await admin.put('/worlds/referee', conduct);
    const beganMs = stopwatchMs();
    const ending = await runClient(client, new TestWorld(server.url, KEY), limitMs, stop, systemClock());
    const durationMs = Math.round(stopwatchMs() - beganMs);
    const reports = await admin.get<ConductReports>('/worlds/referee');
    const worlds = await evidenceOfAll(server.worlds, systemClock().nowMs());
    return { ending, durationMs, conduct: reports, worlds };
  } finally {
    await server.close();
  }
}
