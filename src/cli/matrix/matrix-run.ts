import { ControlClient } from '../../client/control-client.ts';
import { TestWorld } from '../../client/test-world.ts';
import type { ConductReports, RefereeSettingsInput } from '../../contract/conduct.ts';
import { runClient, type Client } from '../../trials/run.ts';
import type { CommandRun } from '../../trials/matrix/cells.ts';
import { clockOf } from '../../log/wall-clock.ts';
import { systemClock } from '../../platform/system-clock.ts';
import { reportsOf } from '../../referee/reports/summary.ts';
import type { Server } from '../../server.ts';
import type { Settings } from '../../settings.ts';
import { joinedWorlds, OF_EACH_RUN, openJoinPoint, type JoinRules } from '../join-point.ts';
import { LONG_JOURNAL, startOwnServer } from '../own-server.ts';

const KEY = 'sk_test_matrix';

/**
 * Runs a client once against a sandbox of its own, so that every world behaves alike, whichever keys the client uses.
 *
 * @param startMs the time at which the sandbox begins, so that no result depends on the hour of the day
 */
export async function runOnce(
  settings: Settings,
  conduct: RefereeSettingsInput,
  client: Client,
  limitMs: number,
  stop: AbortSignal,
  { fixed, said }: Pick<JoinRules<unknown>, 'fixed' | 'said'>,
  startMs: number,
): Promise<CommandRun> {
  const wallClock = systemClock();
  const offsetMs = startMs - wallClock.nowMs();
  const shifted = clockOf({ nowMs: () => wallClock.nowMs() + offsetMs }, wallClock, () => 0);
  const server = await startOwnServer(settings, undefined, shifted);
  const prepare = ({ url, adminToken }: Server) =>
    new ControlClient(url, adminToken).put('/worlds/referee', conduct);
  const collect = async (one: Server) => ({
    reports: await new ControlClient(one.url, one.adminToken).get<ConductReports>('/worlds/referee', {
      ended: true,
    }),
    worlds: (await joinedWorlds(one, shifted)).map(({ evidence }) => evidence),
  });
  try {
    await prepare(server);
    const join = await openJoinPoint({
      by: 'matrix',
      usual: LONG_JOURNAL,
      outer: settings,
      fixed: [...fixed, ...OF_EACH_RUN],
      said,
      wallClock: shifted,
      prepare,
      collect,
    });
    const world = new TestWorld(server.url, KEY);
    const done = await runClient(client, world, limitMs, stop, wallClock, join);
    const all = [await collect(server), ...done.sandboxes];
    return {
      ...done,
      conduct: reportsOf(all.flatMap(({ reports }) => reports.worlds)),
      worlds: all.flatMap(({ worlds }) => worlds),
    };
  } finally {
    await server.close();
  }
}
