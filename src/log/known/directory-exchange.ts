import { readUnlessDropped } from '../dropped.ts';
import { STORE_TIMES } from '../store-times.ts';
import type { Directory } from '../store.ts';
import type { WallClock } from '../wall-clock.ts';
import type { Known, KnownWorlds } from './known-worlds.ts';

/** How many worlds that were not used lately are looked up with each exchange, since another server may have dropped them. */
const LOOKED_UP = 100;

/** Notes the uses of the worlds that this server knows in the list of all worlds, and finds out which of them were dropped. */
export function directoryExchange(directory: Directory, known: KnownWorlds) {
  let lookedUp = 0;
  let cancel = (): void => undefined;
  let isClosed = false;

  /** The worlds that were used lately, and some of the others in turn. */
  function lookUp(): readonly Known[] {
    if (lookedUp >= known.size) lookedUp = 0;
    const others = [...known.all()].slice(lookedUp, lookedUp + LOOKED_UP);
    lookedUp += LOOKED_UP;
    return [...new Set([...known.recent(), ...others])].filter(({ isVisitOnly }) => !isVisitOnly);
  }

  /** A world that is not in the list, or there as another one: it was dropped, which it finds out now, or the list has lost it. */
  async function recheck({ world }: Known): Promise<void> {
    try {
      const isThere = (await readUnlessDropped(world, () => true)) !== null;
      if (isThere) await directory.add(world.id, world.usedAtMs);
    } catch {
      // its part of the store is unavailable
    }
  }

  async function once(): Promise<void> {
    const looked = lookUp();
    const uses = looked.map(({ world, notedAtMs, size: { records } }) => {
      const { id, epoch, position } = world;
      const usedAtMs = world.usedAtMs > notedAtMs ? world.usedAtMs : 0;
      return { id, usedAtMs, epoch, position, records };
    });
    const listed = await directory.exchange(uses);
    for (const [nth, one] of looked.entries()) {
      const row = listed[nth]!;
      one.notedAtMs = Math.max(one.notedAtMs, uses[nth]!.usedAtMs);
      if (known.get(one.world.id) !== one) continue; // forgotten meanwhile
      if (row?.epoch === one.world.epoch) known.setListed(one, row.records);
      else await recheck(one);
    }
  }

  /** From now on, does `once` every second, and ends idle worlds. @param evict ends one of them */
  async function regularly(
    wallClock: WallClock,
    idleMs: number,
    evict: (worldId: string) => Promise<void>,
  ): Promise<void> {
    try {
      await once();
      for (const worldId of await directory.claimIdle(idleMs)) if (!isClosed) await evict(worldId);
    } catch {
      // the store is unavailable: its heartbeat reports it
    }
    if (isClosed) return;
    const again = (): void => void regularly(wallClock, idleMs, evict);
    cancel = wallClock.schedule(wallClock.nowMs() + STORE_TIMES.exchange, again);
  }

  const close = (): void => {
    isClosed = true;
    cancel();
  };
  return { once, regularly, close };
}
