import type { Command } from '../../world/commands.ts';
import {
  full,
  noRoomForScenario,
  recordsHeld,
  scenarioCharactersHeld,
  transactionsHeld,
  type WorldState,
} from '../../world/state.ts';
import type { World } from '../world.ts';
import type { DropReason, Store, WorldsPage } from '../store.ts';
import type { WallClock } from '../wall-clock.ts';
import type { Room } from '../world-parts.ts';
import { Drafts, type Draft } from './drafts.ts';

export interface KnownWorldsOptions {
  /** How many copies of worlds in a store this server keeps. */
  readonly maxCopies: number;
  readonly store: Store;
  readonly wallClock: WallClock;
  /** How many requests one world remembers. */
  readonly maxRequests: number;
  /** What all worlds of a server may hold together: SANDBOX_MAX_TRANSACTIONS */
  readonly maxRecords: number;
  /** For the scenarios and rules that worlds choose: SANDBOX_SCENARIO_MEMORY. */
  readonly maxScenarioCharacters: number;
  /** How many requests all worlds remember together: SANDBOX_JOURNAL_TOTAL. */
  readonly maxRequestsInAll: number;
}

/** What a world holds, as the limits over all worlds count it. */
interface WorldSize {
  records: number;
  /** The part of them that a full sandbox refuses. */
  transactions: number;
  scenarioCharacters: number;
  /** The requests that it remembers, and what is kept of its past. */
  requests: number;
}

const NOTHING: WorldSize = { records: 0, transactions: 0, scenarioCharacters: 0, requests: 0 };

/** @param pastHeld what is kept of its past */
const sizeOf = (state: Readonly<WorldState>, pastHeld = 0): WorldSize => ({
  records: recordsHeld(state),
  transactions: transactionsHeld(state),
  scenarioCharacters: scenarioCharactersHeld(state),
  requests: state.requests.list.length + pastHeld,
});

/** A world that a server knows. */
export interface Known {
  readonly world: World;
  size: WorldSize;
  /** How many records the list of all worlds counts for it, and its last use there. */
  listed: number;
  notedAtMs: number;
  /** Whether it was only loaded for callers that look at it: it is forgotten after the last one. */
  isVisitOnly: boolean;
}

const FREED = 1 / 64; // of what all may remember, when they have to forget
/** What worlds forget, in this order: its size, and how they forget it. */
const FORGOTTEN = [
  [(world: World) => world.pastHeld, (world: World) => world.forgetPast()],
  [(world: World) => world.latest.requests.list.length, (world: World) => world.forgetRequests()],
] as const;
const LATELY_MS = 60_000;

/** The worlds that a server knows, and how much they hold. In memory these are all worlds; else copies, as many as fit. */
export class KnownWorlds {
  /** The one that was idle longest first. */
  readonly #byId = new Map<string, Known>();
  /** The last of them. */
  #latest: Known | undefined;
  /** Those that were used lately. */
  readonly #recent = new Set<Known>();
  readonly #options: KnownWorldsOptions;
  readonly #keep: Room['keep'];
  readonly #held = { ...NOTHING };
  readonly #drafts = new Drafts();
  /** How many records the list of all worlds counts for them. */
  #listed = 0;
  #isForgetting = false;

  constructor(options: KnownWorldsOptions) {
    this.#options = options;
    this.#keep = Math.min(options.maxRequests, options.maxRequestsInAll);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The one that was idle longest first. */
  all(): Iterable<Known> {
    return this.#byId.values();
  }

  ids(): string[] {
    return [...this.#byId.keys()];
  }

  /** See `Directory.page`. */
  page(afterMs: number, count: number): WorldsPage {
    const ids: string[] = [];
    let next: number | null = null;
    for (const { world } of this.#byId.values()) {
      if (world.usedAtMs <= afterMs) continue;
      if (next !== null && world.usedAtMs > next) return { ids, next };
      ids.push(world.id);
      if (ids.length >= count) next = world.usedAtMs;
    }
    return { ids, next: null };
  }

  get(worldId: string): Known | undefined {
    return this.#byId.get(worldId);
  }

  idlest(): World | undefined {
    return this.#byId.values().next().value?.world;
  }

  /** The one whose drop loses least: the idlest without payouts or other records, else the idlest. */
  leastMissed(): World | undefined {
    for (const { world, size } of this.#byId.values()) if (size.records === 0) return world;
    return this.idlest();
  }

  recent(): Iterable<Known> {
    const earliestMs = this.#options.store.nowMs() - LATELY_MS;
    for (const known of this.#recent) if (known.world.usedAtMs < earliestMs) this.#recent.delete(known);
    return this.#recent;
  }

  add(world: World, isVisitOnly: boolean): Known {
    const known = { world, size: NOTHING, listed: 0, notedAtMs: 0, isVisitOnly };
    this.#byId.set(world.id, known);
    this.#latest = known;
    this.count(world);
    this.setListed(known, known.size.records);
    return known;
  }

  used(known: Known): void {
    const { world } = known;
    world.usedAtMs = this.#options.store.nowMs();
    if (known !== this.#latest) {
      this.#byId.delete(world.id);
      this.#byId.set(world.id, known);
      this.#latest = known;
    }
    known.isVisitOnly = false;
    if (this.#options.store.directory !== null) this.#recent.add(known);
  }

  /** Forgets a world, and ends it on this server. */
  forget(world: World, reason: DropReason): void {
    const known = this.#byId.get(world.id);
    if (known?.world === world) {
      this.#byId.delete(world.id);
      this.#recent.delete(known);
      this.#setSize(known, NOTHING);
      this.setListed(known, 0);
    }
    world.close(reason);
  }

  count(world: World): void {
    const known = this.#byId.get(world.id);
    if (known === undefined || known.world !== world) return;
    this.#setSize(known, sizeOf(world.latest, world.pastHeld));
    if (this.#isFull) this.#forgetOldest();
  }

  setListed(known: Known, records: number): void {
    this.#listed += records - known.listed;
    known.listed = records;
  }

  /** How many records all worlds hold, as SANDBOX_MAX_TRANSACTIONS counts them. */
  get recordsHeld(): number {
    return this.#held.records + this.#recordsElsewhere;
  }

  /** Starts to count a state that is being read. @param replaced the world that it will replace */
  draft({ isOwn = false, replaced }: { isOwn?: boolean; replaced?: World } = {}): Draft {
    return this.#drafts.begin({
      isOwn,
      replaced: replaced === undefined ? 0 : this.#sizeOf(replaced).records,
      demandRoom: (records, scenarioCharacters) => {
        const room = this.#free(isOwn ? 'transactions' : 'records');
        this.#demandRoom(records, room, scenarioCharacters, this.#scenarioCharactersFree);
      },
    });
  }

  /** How much a world may hold. @throws Refusal SANDBOX_FULL without enough room for a restore */
  roomFor(world: World, command: Command): Room {
    const { maxRecords } = this.#options;
    const scenarioCharactersFree = this.#scenarioCharactersFree;
    const size = this.#sizeOf(world);
    const records = size.records + this.#free('records') - this.#recordsElsewhere;
    if (command.kind === 'restore') {
      const needed = sizeOf(command.state);
      const scenarioRoom = size.scenarioCharacters + scenarioCharactersFree;
      const room = size.transactions + this.#free('transactions') - this.#recordsElsewhere;
      this.#demandRoom(needed.transactions, room, needed.scenarioCharacters, scenarioRoom);
    }
    return { maxRecords, records, scenarioCharactersFree, keep: this.#keep };
  }

  /** Forgets copies of worlds that were idle longest, and whose use is in the list of all worlds, until this server has no more than it may. */
  makeRoom(): void {
    const { maxCopies, maxRecords } = this.#options;
    for (const { world, notedAtMs } of this.#byId.values()) {
      const isTooMuch = this.size > maxCopies || this.#held.records > maxRecords || this.#isFull;
      if (!isTooMuch || world.usedAtMs > notedAtMs) return;
      if (world.isIdle) this.forget(world, 'stop');
    }
  }

  close(): void {
    for (const { world } of this.#byId.values()) world.close('stop');
    this.#byId.clear();
  }

  /** The records of the worlds that this server does not know. */
  get #recordsElsewhere(): number {
    return Math.max(0, (this.#options.store.directory?.records ?? 0) - this.#listed);
  }

  /** Whether the requests and the past of all worlds take more than they may. */
  get #isFull(): boolean {
    return this.#held.requests > this.#options.maxRequestsInAll;
  }

  #free(part: 'records' | 'transactions'): number {
    return this.#options.maxRecords - this.#held[part] - this.#drafts.records;
  }

  get #scenarioCharactersFree(): number {
    const taken = this.#held.scenarioCharacters + this.#drafts.scenarioCharacters;
    return this.#options.maxScenarioCharacters - taken;
  }

  #demandRoom(records: number, room: number, scenarioCharacters: number, scenarioRoom: number): void {
    if (records > Math.max(0, room)) throw full(this.#options.maxRecords);
    if (scenarioCharacters > scenarioRoom) throw noRoomForScenario();
  }

  #sizeOf({ id }: World): WorldSize {
    return this.#byId.get(id)?.size ?? NOTHING;
  }

  #setSize(known: Known, size: WorldSize): void {
    const held = this.#held;
    for (const part of ['records', 'transactions', 'scenarioCharacters', 'requests'] as const) {
      held[part] += size[part] - known.size[part];
    }
    known.size = size;
  }

  /** Drops the past of those idle longest, then their requests, until there is room for more than one request: this goes through all. */
  #forgetOldest(): void {
    if (this.#options.store.directory !== null) return this.makeRoom();
    if (this.#isForgetting) return; // what it does changes worlds, too
    this.#isForgetting = true;
    const enough = this.#options.maxRequestsInAll * (1 - FREED);
    for (const [heldBy, forget] of FORGOTTEN) {
      for (const known of this.#byId.values()) {
        if (this.#held.requests <= enough) break;
        const { world } = known;
        if (heldBy(world) === 0) continue;
        forget(world);
        this.#setSize(known, sizeOf(world.latest, world.pastHeld));
      }
    }
    this.#isForgetting = false;
  }
}
