import { Refusal } from '../../../src/contract/errors.ts';
import type { ScenarioSource } from '../../../src/contract/snapshot-lines.ts';
import { fingerprintOf } from '../../../src/log/command-parts.ts';
import { memoryNotes, type NoteLimits, type Notes } from '../../../src/log/notes.ts';
import type {
  Appended,
  Base,
  Directory,
  DropReason,
  History,
  Logged,
  NewCommand,
  Opened,
  Place,
  Store,
  Use,
} from '../../../src/log/store.ts';
import { commandText, readEntry, type StreamEntry } from '../../../src/log/valkey/stored/stored-command.ts';
import { piecesOf, StatePieces } from '../../../src/log/valkey/stored/stored-state.ts';
import type { WallClock } from '../../../src/log/wall-clock.ts';
import type { ScenarioCompiler } from '../../../src/scenario/scenario.ts';
import { thawed } from '../../../src/log/past.ts';
import { freeze, type FrozenState } from '../../../src/world/copy.ts';
import { openWorld, type WorldState } from '../../../src/world/state.ts';

/** The log of one world, as text: what a server reads of it has passed through JSON, and commands through their parser. */
interface Log {
  readonly epoch: string;
  readonly openedAtMs: number;
  bases: Base[];
  entries: { readonly position: number; readonly name: string; readonly entry: StreamEntry }[];
  last: Place;
  readonly restored: Map<string, string[]>;
  readonly wakes: Map<() => void, string>;
}

/** What several unsteady servers share. */
export class UnsteadyLogs {
  readonly worlds = new Map<string, Log>();
  readonly dropped = new Map<string, DropReason>();
  readonly listed = new Map<string, number>();
  lives = 0;
}

/** What becomes of a call: it is answered late, its reply is lost before or after it did its work, or it is sent twice. */
export type Trouble = 'late' | 'lost before' | 'lost after' | 'twice' | 'page';

const unavailable = (): Refusal => new Refusal('STORE_UNAVAILABLE');
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A store for tests in the memory of this process, which behaves as one elsewhere may: it answers late, out of turn, twice or not
 * at all.
 */
export class UnsteadyStore implements Store, Directory {
  readonly server: string;
  readonly directory = this;
  readonly #logs: UnsteadyLogs;
  readonly #wallClock: WallClock;
  readonly #compiler: ScenarioCompiler;
  readonly #next: () => Trouble;

  /** @param next what becomes of the next call */
  constructor(
    server: string,
    logs: UnsteadyLogs,
    wallClock: WallClock,
    compiler: ScenarioCompiler,
    next: () => Trouble = () => 'late',
  ) {
    this.server = server;
    this.#logs = logs;
    this.#wallClock = wallClock;
    this.#compiler = compiler;
    this.#next = next;
  }

  nowMs(): number {
    return this.#wallClock.nowMs();
  }

  async open(worldId: string, source: ScenarioSource | null): Promise<Opened | null> {
    await turn();
    const known = this.#logs.worlds.get(worldId);
    if (known === undefined && source === null) return null;
    const log = known ?? this.#make(worldId, source!);
    const { epoch, openedAtMs } = log;
    return { epoch, openedAtMs, isNew: known === undefined, base: log.bases.at(-1)! };
  }

  async append(
    worldId: string,
    epoch: string,
    seen: Place,
    state: Readonly<WorldState>,
    commands: readonly NewCommand[],
  ): Promise<Appended> {
    const trouble = this.#next();
    for (let turns = trouble === 'late' ? commands.length % 3 : 0; turns >= 0; turns -= 1) await turn();
    if (trouble === 'lost before') throw unavailable();
    if (trouble === 'twice') await this.#append(worldId, epoch, seen, state, commands);
    const appended = await this.#append(
      worldId,
      epoch,
      seen,
      state,
      commands,
      trouble === 'page' ? 2 : Infinity,
    );
    await turn();
    if (trouble === 'lost after') throw unavailable();
    return appended;
  }

  compactAfter(): number {
    return 20;
  }

  async compact(worldId: string, epoch: string, base: Base, oldest: number): Promise<number> {
    await turn();
    const log = this.#logs.worlds.get(worldId);
    if (log?.epoch !== epoch || base.position <= log.bases.at(-1)!.position) return base.position;
    const copy = stateOf([...piecesOf(base.state())]);
    log.bases.push({ position: base.position, name: base.name, state: () => copy });
    while (log.bases.length > 2 && log.bases[1]!.position <= oldest) log.bases.shift();
    const { position } = log.bases[0]!;
    log.entries = log.entries.filter((entry) => entry.position > position);
    return position;
  }

  async history(worldId: string, epoch: string, position: number): Promise<History | null> {
    await turn();
    const log = this.#logs.worlds.get(worldId);
    const base = log?.bases.findLast((one) => one.position <= position);
    if (log?.epoch !== epoch || base === undefined) return null;
    return { base, commands: await this.#read(log, base.position) };
  }

  differs(worldId: string, position: number): void {
    throw new Error(`two servers have different states of ${worldId} at ${position}`);
  }

  wake(worldId: string, callback: () => void): () => void {
    const wakes = this.#logs.worlds.get(worldId)?.wakes;
    wakes?.set(callback, this.server);
    return () => wakes?.delete(callback);
  }

  async drop(worldId: string, reason: DropReason): Promise<boolean> {
    await turn();
    const log = this.#logs.worlds.get(worldId);
    if (log === undefined) return false;
    this.#logs.worlds.delete(worldId);
    this.#logs.listed.delete(worldId);
    this.#logs.dropped.set(worldId, reason);
    this.#wake(log, '');
    return true;
  }

  notes(_kind: string, limits: NoteLimits): Notes {
    return memoryNotes(limits);
  }

  close(): void {}

  get worlds(): number {
    return this.#logs.listed.size;
  }

  get records(): number {
    return 0;
  }

  async ids(): Promise<readonly string[]> {
    await turn();
    return [...this.#logs.listed].toSorted(([, one], [, other]) => one - other).map(([id]) => id);
  }

  async page(): Promise<{ ids: readonly string[]; next: null }> {
    return { ids: await this.ids(), next: null };
  }

  async times(worldId: string): Promise<{ openedAtMs: number; usedAtMs: number } | null> {
    const usedAtMs = this.#logs.listed.get(worldId);
    const openedAtMs = this.#logs.worlds.get(worldId)?.openedAtMs;
    return usedAtMs === undefined || openedAtMs === undefined ? null : { openedAtMs, usedAtMs };
  }

  async add(worldId: string, usedAtMs: number): Promise<number> {
    this.#logs.listed.set(worldId, usedAtMs);
    return this.worlds;
  }

  async remove(worldId: string): Promise<void> {
    this.#logs.listed.delete(worldId);
  }

  async leastMissed(): Promise<string | undefined> {
    return (await this.ids())[0];
  }

  async exchange(uses: readonly Use[]): Promise<readonly ({ epoch: string; records: number } | null)[]> {
    await turn();
    return uses.map(({ id, usedAtMs }) => {
      const log = this.#logs.worlds.get(id);
      if (log === undefined) return null;
      this.#logs.listed.set(id, Math.max(usedAtMs, this.#logs.listed.get(id) ?? 0));
      return { epoch: log.epoch, records: 0 };
    });
  }

  async claimIdle(): Promise<readonly string[]> {
    return [];
  }

  #make(worldId: string, source: ScenarioSource): Log {
    this.#logs.lives += 1;
    const openedAtMs = this.nowMs();
    const first = freeze(openWorld(worldId, source, openedAtMs, this.#compiler));
    const start = { position: 0, name: '' };
    const log: Log = {
      epoch: `${openedAtMs}-${this.#logs.lives}`,
      openedAtMs,
      bases: [{ ...start, state: () => first }],
      entries: [],
      last: start,
      restored: new Map(),
      wakes: new Map(),
    };
    this.#logs.worlds.set(worldId, log);
    return log;
  }

  async #append(
    worldId: string,
    epoch: string,
    seen: Place,
    state: Readonly<WorldState>,
    commands: readonly NewCommand[],
    page = Infinity,
  ): Promise<Appended> {
    const log = this.#logs.worlds.get(worldId);
    if (log?.epoch !== epoch) return { kind: 'gone', reason: this.#logs.dropped.get(worldId) ?? 'admin' };
    const isFollowed = seen.position >= log.bases[0]!.position;
    const isKnown =
      seen.name === (log.entries.find(({ position }) => position === seen.position)?.name ?? seen.name);
    if (!isFollowed || !isKnown) return { kind: 'moved', isUnsure: true };
    const news = log.entries.filter(({ position }) => position > seen.position);
    if (news.length > page) {
      return { kind: 'more', commands: await this.#read(log, seen.position, page), isUnsure: true };
    }
    const before = log.last;
    for (const command of commands) this.#add(log, command, seen, state);
    if (log.last !== before) this.#wake(log, this.server);
    return { kind: 'done', commands: await this.#read(log, seen.position) };
  }

  #add(log: Log, command: NewCommand, seen: Place, state: Readonly<WorldState>): void {
    const name = `${this.server}:${command.number}`;
    if (log.entries.some((entry) => entry.name === name)) return;
    if (command.command.kind === 'restore') {
      const { index: _index, ...restored } = command.command.state;
      log.restored.set(name, [...piecesOf(restored)]);
    }
    const position = log.last.position + 1;
    const fingerprint = log.last.position === seen.position ? fingerprintOf(state) : '';
    const fields = [
      'p',
      log.last.name,
      's',
      this.server,
      'n',
      String(command.number),
      't',
      String(this.nowMs()),
    ];
    const entry: StreamEntry = [
      `0-${position}`,
      [...fields, 'c', commandText(command, name), 'f', fingerprint],
    ];
    log.last = { position, name };
    log.entries.push({ ...log.last, entry });
  }

  async #read(log: Log, after: number, count = Infinity): Promise<readonly Logged[]> {
    const read: Logged[] = [];
    for (const { position, entry } of log.entries) {
      if (position <= after || read.length >= count) continue;
      const parts = { compiler: this.#compiler, wallClock: this.#wallClock };
      const restored = (name: string) => thawed(stateOf(log.restored.get(name)!), parts);
      read.push((await readEntry(entry, restored))!);
    }
    return read;
  }

  /** Wakes the other servers, some of them twice. */
  #wake({ wakes }: Log, by: string): void {
    for (const [callback, server] of [...wakes, ...wakes]) if (server !== by) setImmediate(callback);
  }
}

function stateOf(texts: readonly string[]): FrozenState {
  const pieces = new StatePieces();
  return texts.map((text) => pieces.add(text)).find((state) => state !== null)!;
}
