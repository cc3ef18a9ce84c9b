import { ControlClient } from '../../client/control-client.ts';
import { TestWorld } from '../../client/test-world.ts';
import type { ConductReports, RefereeSettingsInput } from '../../contract/conduct.ts';
import { runClient, type Client } from '../../trials/hunt/world-runs.ts';
import { evidenceOnListed } from '../../http/referee/evidence.ts';
import type { CommandRun } from '../../trials/matrix/cells.ts';
import { clockOf } from '../../log/wall-clock.ts';
import { stopwatchMs, systemClock } from '../../platform/system-clock.ts';
import type { Evidence } from '../../referee/case.ts';
import type { Settings } from '../../settings.ts';
import { startOwnServer } from '../own-server.ts';

/** The key that the client gets. */
const KEY = 'sk_test_matrix';
/** With a table of expected payouts, even an empty one, the evidence has every payout, whether or not it is still in the journal. */
const ALL_PAYOUTS = { expect: [] };

/**
 * Runs a client once against a sandbox of its own, so that every world behaves alike, whichever keys the client uses.
 *
 * @param conduct the settings of the referee
 * @param limitMs a client that runs longer is ended and counts as stuck
 * @param startMs the time at which the sandbox begins, so that no result depends on the hour of the day
 */
export async function runOnce(
  settings: Settings,
  conduct: RefereeSettingsInput,
  client: Client,
  limitMs: number,
  stop: AbortSignal,
  startMs: number,
): Promise<CommandRun> {
  const wallClock = systemClock();
  const offsetMs = startMs - wallClock.nowMs();
  const shifted = clockOf({ nowMs: () => wallClock.nowMs() + offsetMs }, wallClock, () => 0);
  const server = await startOwnServer(settings, undefined, shifted);
  try {
    const admin = new ControlClient(server.url, server.adminToken);
    await admin.put('/worlds/referee', conduct);
    const beganMs = stopwatchMs();
    const ending = await runClient(client, new TestWorld(server.url, KEY), limitMs, stop, wallClock);
    const durationMs = Math.round(stopwatchMs() - beganMs);
    const reports = await admin.get<ConductReports>('/worlds/referee', { ended: true });
    const worlds: Evidence[] = [];
    for (const worldId of await server.worlds.ids()) {
      const evidence = await evidenceOnListed(worldId, server.worlds, ALL_PAYOUTS, shifted, true);
      if (evidence !== null) worlds.push(evidence);
    }
    return { ending, durationMs, conduct: reports, worlds };
  } finally {
    await server.close();
  }
}
