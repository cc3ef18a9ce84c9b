/**
 * Setup of the tests that run a second time, as if each world were behind a store: commands, results and state pass through
 * JSON, and other work runs before and after each command. What is true in memory must be true then, too.
 */
import fc from 'fast-check';
import { vi } from 'vitest';
import type * as MemoryWorldModule from '../../src/log/memory-world.ts';
import type * as ApplyModule from '../../src/world/apply.ts';
import { WORLD_ITEMS, WorldHead, type WorldItem } from '../../src/contract/snapshot-lines.ts';
import type { ScenarioCompiler } from '../../src/scenario/scenario.ts';
import { Command } from '../../src/world/commands.ts';
import { SnapshotReader, takeSnapshot } from '../../src/world/snapshot.ts';
import type { WorldState } from '../../src/world/state.ts';
import { sized } from './size.ts';

fc.configureGlobal({ numRuns: sized(10, 100) });

const LARGE = 100;
let larges = 0;

/** Whether a state is copied for this command. A large one is copied only now and then, since that is slow. */
function isCopied(state: WorldState): boolean {
  const { entries, payouts, overrides, uses, attempts, refused } = state;
  const recent = entries.length + payouts.length + attempts.recent.size;
  if (recent + overrides.length + uses.size + attempts.older.size + refused.size <= LARGE) return true;
  larges += 1;
  return larges % 1000 === 0;
}

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A copy of a state, made through a snapshot. */
function copyOf(state: WorldState, compiler: ScenarioCompiler): WorldState {
  const { head, items } = takeSnapshot(state);
  const reader = new SnapshotReader(WorldHead.parse(throughJson(head)), compiler);
  for (const item of items) {
    const [[name, value]] = Object.entries(throughJson(item)) as [[keyof typeof WORLD_ITEMS, unknown]];
    reader.add({ [name]: WORLD_ITEMS[name].parse(value) } as WorldItem);
  }
  return Object.assign(reader.finish(), { generation: state.generation, held: state.held });
}

vi.mock('../../src/world/apply.ts', async (importOriginal) => {
  const original = await importOriginal<typeof ApplyModule>();
  const apply: typeof original.apply = (state, command, stamp, compiler) => {
    const copy = isCopied(state) ? copyOf(state, compiler) : state;
    const copied =
      command.kind === 'restore'
        ? { ...command, state: isCopied(command.state) ? copyOf(command.state, compiler) : command.state }
        : Command.parse(throughJson(command));
    const applied = original.apply(copy, copied, throughJson(stamp), compiler);
    // a log knows by identity whether a world follows the scenario that its server has now
    const sources = [...('source' in command ? [command.source] : []), state.scenario.source];
    const source = sources.find((known) => isSame(known, copy.scenario.source)) ?? copy.scenario.source;
    Object.assign(state, copy, { scenario: { ...copy.scenario, source } });
    return throughJson(applied);
  };
  return { ...original, apply };
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

vi.mock('../../src/log/memory-world.ts', async (importOriginal) => {
  const original = await importOriginal<typeof MemoryWorldModule>();
  class DistantWorld extends original.MemoryWorld {
    override submit: MemoryWorldModule.MemoryWorld['submit'] = async (...args) => {
      await turn();
      try {
        return await super.submit(...args);
      } finally {
        await turn();
      }
    };
  }
  return { ...original, MemoryWorld: DistantWorld };
});
