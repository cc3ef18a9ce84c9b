import type { ScenarioSource } from '../contract/snapshot-lines.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { freeze, type FrozenState } from '../world/copy.ts';
import { stampAt } from '../world/commands.ts';
import { openWorld, type WorldState } from '../world/state.ts';
import { memoryNotes, type NoteLimits, type Notes } from './notes.ts';
import type { Appended, Base, History, Logged, NewCommand, Opened, Place, Store } from './store.ts';
import type { WallClock } from './wall-clock.ts';

/** The log of one world: some states, the oldest first, and the commands after the first of them. */
interface Log {
  readonly epoch: string;
  bases: Base[];
  commands: Logged[];
  last: number;
}

/** How many states are kept of one world: enough to undo ten restores, each of which adds one more. */
const MOST_BASES = 24;
const COMPACT_AFTER = 1000;
/** How many payouts are worth one more command: copying a state takes a few nanoseconds for each payout. */
const PAYOUTS_A_COMMAND = 100;
/** How many times more commands than that are kept, for a world with few requests among them. */
const MOST_COMPACTIONS = 4;

/** The logs of all worlds in the memory of this process. Everything returns at once. */
export class MemoryStore implements Store {
  readonly server = '';
  readonly directory = null;
  readonly #wallClock: WallClock;
  readonly #compiler: ScenarioCompiler;
  readonly #logs = new Map<string, Log>();
  /** That of the world that was opened last. */
  #epoch = 0;

  constructor(wallClock: WallClock, compiler: ScenarioCompiler) {
    this.#wallClock = wallClock;
    this.#compiler = compiler;
  }

  nowMs(): number {
    return this.#wallClock.nowMs();
  }

  open(worldId: string, source: ScenarioSource | null): Opened | null {
    if (source === null) return null; // the worlds themselves know which there are
    const openedAtMs = this.nowMs();
    this.#epoch = Math.max(openedAtMs, this.#epoch + 1); // a world may be dropped and opened again within a millisecond
    const epoch = this.#epoch.toString(36);
    const state = (): FrozenState => freeze(openWorld(worldId, source, openedAtMs, this.#compiler));
    const base = { position: 0, name: '', state }; // made again when somebody goes back to it, which few do
    this.#logs.set(worldId, { epoch, bases: [base], commands: [], last: 0 });
    return { epoch, openedAtMs, isNew: true, base };
  }

  append(
    worldId: string,
    _epoch: string,
    _seen: Place,
    _state: Readonly<WorldState>,
    commands: readonly NewCommand[],
  ): Appended {
    const log = this.#logs.get(worldId)!;
    const wallMs = this.nowMs();
    const logged = commands.map(({ number, command, stamp }): Logged => {
      log.last += 1;
      const position = log.last;
      return {
        position,
        name: '',
        number,
        command,
        stamp: stampAt(stamp, position, wallMs),
        fingerprint: '',
      };
    });
    log.commands.push(...logged);
    return { kind: 'done', commands: logged };
  }

  fingerprint(): string {
    return ''; // there is no other server to compare with
  }

  differs(): void {}

  compactAfter(payouts: number): number {
    return COMPACT_AFTER + Math.floor(payouts / PAYOUTS_A_COMMAND);
  }

  compact(worldId: string, _epoch: string, base: Base, oldest: number): number {
    const log = this.#logs.get(worldId)!;
    const { bases } = log;
    bases.push(base);
    const earliest = base.position - MOST_COMPACTIONS * this.compactAfter(base.state().payouts.length);
    const isNeedless = (second: Base): boolean =>
      second.position <= oldest || second.position <= earliest || bases.length > MOST_BASES;
    while (bases.length > 1 && isNeedless(bases[1]!)) bases.shift();
    const { position } = bases[0]!;
    log.commands = log.commands.filter((command) => command.position > position);
    return position;
  }

  history(worldId: string, _epoch: string, position: number): History | null {
    const { bases, commands } = this.#logs.get(worldId)!;
    const base = bases.findLast((one) => one.position <= position);
    if (base === undefined) return null;
    return { base, commands: commands.filter((one) => one.position > base.position), restored: bases };
  }

  wake(): () => void {
    return () => undefined; // there is no other server
  }

  drop(worldId: string): boolean {
    return this.#logs.delete(worldId);
  }

  notes(_kind: string, limits: NoteLimits): Notes {
    return memoryNotes(limits);
  }

  close(): void {
    this.#logs.clear();
  }
}
