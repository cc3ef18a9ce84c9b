import type { ScenarioSource } from '../contract/snapshot.ts';
import type { Opened } from './order.ts';
import { World, type OrderOf, type WorldParts } from './world.ts';

/** Some worlds of a list with their last uses, in ms of wall time, the one that was idle longest first; and the last of these times, null on the last page. */
export interface WorldsPage {
  readonly uses: readonly (readonly [worldId: string, usedAtMs: number])[];
  readonly next: number | null;
}

/** The worlds of a store that servers share: a function that opens one, and the list of all. */
export interface SharedWorlds {
  nowMs(): number;
  /** @param source the scenario of a new world; null to make none @returns null when there is none @throws Refusal STORE_UNAVAILABLE */
  open(worldId: string, source: ScenarioSource | null): Promise<(Opened & { orderOf: OrderOf }) | null>;
  /** @returns whether there was one */
  drop(worldId: string): Promise<boolean>;
  ids(): Promise<readonly string[]>;
  /** Those that were used after a time: as many as given, and those that were used in the same millisecond as the last of them. */
  page(afterMs: number, count: number): Promise<WorldsPage>;
  /** Takes a world that is gone off the list. */
  unlist(worldId: string): Promise<void>;
  /** Notes when worlds were used. */
  used(worlds: readonly World[]): Promise<void>;
  close(): void;
}

/** The copies that one server has of the worlds of a store. */
export class WorldCopies {
  readonly #store: SharedWorlds;
  readonly #parts: WorldParts;
  readonly #opened: (world: World) => void;
  readonly #opening = new Map<string, Promise<World | null>>();
  #latestSource: ScenarioSource;
  /** The scenarios that this server had before, as JSON. */
  readonly #formerSources = new Set<string>();

  /** @param opened called with each world that is opened */
  constructor(
    store: SharedWorlds,
    source: ScenarioSource,
    parts: WorldParts,
    opened: (world: World) => void,
  ) {
    this.#store = store;
    this.#latestSource = source;
    this.#parts = parts;
    this.#opened = opened;
  }

  /** Opens a world. @param source the scenario of a new one; null to make none, and to forget the copy after its last reader */
  open(worldId: string, source: ScenarioSource | null): Promise<World | null> {
    const opening = this.#opening.get(worldId);
    if (opening !== undefined && source === null) return opening;
    const opened = (opening ?? Promise.resolve(null))
      .then((world) => world ?? this.#load(worldId, source))
      .finally(() => {
        if (this.#opening.get(worldId) === opened) this.#opening.delete(worldId);
      });
    this.#opening.set(worldId, opened);
    return opened;
  }

  async #load(worldId: string, source: ScenarioSource | null): Promise<World | null> {
    const opened = await this.#store.open(worldId, source);
    if (opened === null) return null;
    const world = new World(worldId, this.#parts, opened, opened.orderOf);
    if (!opened.isNew && (await world.peek(() => true)) === null) return null;
    world.isVisitOnly = source === null;
    this.#opened(world);
    return world;
  }

  /** Writes the latest uses of worlds to the list of all. @param worlds the one that was used last first */
  async noteUses(worlds: Iterable<World>): Promise<void> {
    const used: World[] = [];
    for (const world of worlds) {
      if (world.usedAtMs <= world.notedAtMs) break;
      if (!world.isVisitOnly) used.push(world);
    }
    const times = used.map(({ usedAtMs }) => usedAtMs);
    if (used.length > 0) await this.#store.used(used);
    for (const [nth, world] of used.entries()) world.notedAtMs = times[nth]!;
  }

  /** The scenario that a world should follow instead of one that this server had before; null for none. It may be that of another server. */
  successorOf(source: ScenarioSource, active: ScenarioSource): ScenarioSource | null {
    if (active !== this.#latestSource) {
      this.#formerSources.add(JSON.stringify(this.#latestSource));
      this.#formerSources.delete(JSON.stringify(active));
      this.#latestSource = active;
    }
    if (this.#formerSources.size === 0) return null;
    return this.#formerSources.has(JSON.stringify(source)) ? active : null;
  }
}
