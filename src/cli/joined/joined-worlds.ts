import type { JoinedWorld } from '../../trials/hunt/world-runs.ts';
import { evidenceOnListed } from '../../http/referee/evidence.ts';
import { readUnlessDropped } from '../../log/dropped.ts';
import { systemClock } from '../../platform/system-clock.ts';
import type { Server } from '../../server.ts';
import type { SettingName } from '../../settings.ts';

/** Settings that a hunt and a matrix decide for each run: what is kept in a file or a store would outlive it. */
export const OF_EACH_RUN: readonly SettingName[] = [
  'scenario',
  'scenarios',
  'dialect',
  'state',
  'store',
  'logLevel',
];

/** With a table of expected payouts, even an empty one, the evidence has every payout, whether or not it is still in the journal. */
const ALL_PAYOUTS = { expect: [] };

/** The evidence on every world of a server whose client has ended, and whether the client replaced the scenario of the run. */
export async function joinedWorlds(
  { worlds }: Server,
  wallClock = systemClock(),
): Promise<readonly JoinedWorld[]> {
  const all: JoinedWorld[] = [];
  for (const worldId of await worlds.ids()) {
    const evidence = await evidenceOnListed(worldId, worlds, ALL_PAYOUTS, wallClock, true);
    const hasOwnScenario = await worlds.visit(worldId, (world) =>
      readUnlessDropped(world, ({ scenario }) => scenario.isChosen),
    );
    if (evidence !== null) all.push({ evidence, hasOwnScenario: hasOwnScenario === true });
  }
  return all;
}
