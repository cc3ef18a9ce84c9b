import { readUnlessDropped } from '../dropped.ts';
import type { Directory } from '../store.ts';
import type { WallClock } from '../wall-clock.ts';
import type { Known, KnownWorlds } from './known-worlds.ts';

const EVERY_MS = 1000;

/** How many worlds that were not used lately are looked up with each exchange, since another server may have dropped them. */
const LOOKED_UP = 100;

/** Notes the uses of the worlds that this server knows in the list of all worlds, and finds out which of them were dropped. */
export class DirectoryExchange {
  readonly #directory: Directory;
  readonly #known: KnownWorlds;
  #lookedUp = 0;
  #cancel = (): void => undefined;
  #isClosed = false;

  constructor(directory: Directory, known: KnownWorlds) {
    this.#directory = directory;
    this.#known = known;
  }

  /** From now on, does `once` every second, and ends idle worlds. @param evict ends one of them */
  async regularly(
    wallClock: WallClock,
    idleMs: number,
    evict: (worldId: string) => Promise<void>,
  ): Promise<void> {
    try {
      await this.once();
      for (const worldId of await this.#directory.claimIdle(idleMs))
        if (!this.#isClosed) await evict(worldId);
    } catch {
      // the store is unavailable: its heartbeat reports it
    }
    if (this.#isClosed) return;
    const again = (): void => void this.regularly(wallClock, idleMs, evict);
    this.#cancel = wallClock.schedule(wallClock.nowMs() + EVERY_MS, again);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async once(): Promise<void> {
    const known = this.#lookUp();
    const uses = known.map(({ world, notedAtMs, size: { records } }) => {
      const { id, epoch, position } = world;
      const usedAtMs = world.usedAtMs > notedAtMs ? world.usedAtMs : 0;
      return { id, usedAtMs, epoch, position, records };
    });
    const listed = await this.#directory.exchange(uses);
    for (const [nth, one] of known.entries()) {
      const row = listed[nth]!;
      one.notedAtMs = Math.max(one.notedAtMs, uses[nth]!.usedAtMs);
      if (this.#known.get(one.world.id) !== one) continue; // forgotten meanwhile
      if (row?.epoch === one.world.epoch) this.#known.setListed(one, row.records);
      else await this.#recheck(one);
    }
  }

  /** The worlds that were used lately, and some of the others in turn. */
  #lookUp(): readonly Known[] {
    if (this.#lookedUp >= this.#known.size) this.#lookedUp = 0;
    const others = [...this.#known.all()].slice(this.#lookedUp, this.#lookedUp + LOOKED_UP);
    this.#lookedUp += LOOKED_UP;
    return [...new Set([...this.#known.recent(), ...others])].filter(({ isVisitOnly }) => !isVisitOnly);
  }

  /** A world that is not in the list, or there as another one: it was dropped, which it finds out now, or the list has lost it. */
  async #recheck({ world }: Known): Promise<void> {
    try {
      const isThere = (await readUnlessDropped(world, () => true)) !== null;
      if (isThere) await this.#directory.add(world.id, world.usedAtMs);
    } catch {
      // its part of the store is unavailable
    }
  }
}
