import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { freeze, type FrozenState } from '../world/copy.ts';
import { openWorld } from '../world/state.ts';
import { loggedAt } from './command-parts.ts';
import { memoryNotes } from './notes.ts';
import type { Base, Logged, Store } from './store.ts';
import type { WallClock } from './wall-clock.ts';

/** The log of one world: some states, the oldest first, and the commands after the first of them. */
interface Log {
  readonly bases: Base[];
  commands: Logged[];
}

/** How many states are kept of one world: enough to undo ten restores of a snapshot, each of which adds one more. */
const MOST_BASES = 24;
const COMPACT_AFTER = 1000;
/** How many payouts are worth one more command: copying a state takes a few nanoseconds for each payout. */
const PAYOUTS_A_COMMAND = 100;
/** How many times more commands than that are kept, for a world with few actions that can be undone. */
const MOST_COMPACTIONS = 4;

const compactAfter = (payouts: number): number => COMPACT_AFTER + Math.floor(payouts / PAYOUTS_A_COMMAND);

/** The logs of all worlds in the memory of this process. Everything returns at once. */
export function memoryStore(wallClock: WallClock, compiler: ScenarioCompiler) {
  const logs = new Map<string, Log>();
  let latestEpoch = 0;
  return {
    server: '',
    directory: null,
    compactAfter,
    nowMs: () => wallClock.nowMs(),
    open(worldId, source) {
      if (source === null) return null; // the worlds themselves know which there are
      const openedAtMs = wallClock.nowMs();
      latestEpoch = Math.max(openedAtMs, latestEpoch + 1); // a world may be dropped and opened again within a millisecond
      const epoch = latestEpoch.toString(36);
      const state = (): FrozenState => freeze(openWorld(worldId, source, openedAtMs, compiler));
      const base = { position: 0, name: '', state }; // made again when somebody goes back to it, which few do
      logs.set(worldId, { bases: [base], commands: [] });
      return { epoch, openedAtMs, isNew: true, base };
    },
    append(worldId, _epoch, { position }, commands) {
      const wallMs = wallClock.nowMs();
      const logged = commands.map((command, nth) => loggedAt(command, position + nth + 1, '', wallMs));
      logs.get(worldId)!.commands.push(...logged);
      return { kind: 'done', commands: logged };
    },
    compact(worldId, _epoch, base, oldest) {
      const log = logs.get(worldId)!;
      const { bases } = log;
      bases.push(base);
      const earliest = base.position - MOST_COMPACTIONS * compactAfter(base.state().payouts.length);
      const isNeedless = (second: Base): boolean =>
        second.position <= oldest || second.position <= earliest || bases.length > MOST_BASES;
      while (bases.length > 1 && isNeedless(bases[1]!)) bases.shift();
      const { position } = bases[0]!;
      log.commands = log.commands.filter((command) => command.position > position);
      return position;
    },
    history(worldId, _epoch, position) {
      const { bases, commands } = logs.get(worldId)!;
      const base = bases.findLast((one) => one.position <= position);
      if (base === undefined) return null;
      return { base, commands: commands.filter((one) => one.position > base.position) };
    },
    drop: (worldId) => logs.delete(worldId),
    notes: (_kind, limits) => memoryNotes(limits),
    close: () => logs.clear(),
    // there is no other server
    wake: () => () => undefined,
  } satisfies Store;
}
