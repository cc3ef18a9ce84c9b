import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { freeze, type FrozenState } from '../world/copy.ts';
import { openWorld } from '../world/state.ts';
import { loggedAt } from './command-parts.ts';
import type { Store } from './store.ts';
import type { WallClock } from './wall-clock.ts';

/** Orders the commands of worlds in the memory of this process, and keeps none of them. Everything returns at once. */
export function memoryStore(wallClock: WallClock, compiler: ScenarioCompiler) {
  const ids = new Set<string>();
  let latestEpoch = 0;
  return {
    server: '',
    directory: null,
    compactAfter: () => Infinity,
    compact: () => undefined,
    nowMs: () => wallClock.nowMs(),
    open(worldId, source) {
      if (source === null) return null; // the worlds themselves know which there are
      const openedAtMs = wallClock.nowMs();
      latestEpoch = Math.max(openedAtMs, latestEpoch + 1); // a world may be dropped and opened again within a millisecond
      const epoch = latestEpoch.toString(36);
      const state = (): FrozenState => freeze(openWorld(worldId, source, openedAtMs, compiler));
      const base = { position: 0, name: '', state };
      ids.add(worldId);
      return { epoch, openedAtMs, isNew: true, base };
    },
    append(_worldId, _epoch, { position }, commands) {
      const wallMs = wallClock.nowMs();
      const logged = commands.map((command, nth) => loggedAt(command, position + nth + 1, '', wallMs));
      return { kind: 'done', commands: logged };
    },
    drop: (worldId) => ids.delete(worldId),
    close: () => ids.clear(),
    // there is no other server
    wake: () => () => undefined,
  } satisfies Store;
}
