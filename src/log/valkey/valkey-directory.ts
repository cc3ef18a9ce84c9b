import type { Directory } from '../store.ts';
import { keysOf, LIST_KEYS } from './scripts.ts';
import type { StoreConnection } from './store-connection.ts';

type ExchangeReply = readonly [worlds: number, records: number, listed: readonly string[], nowMs: number];

/** The store's own time, which all servers share, whatever their clocks say. */
interface StoreTime {
  readonly nowMs: () => number;
  /** What the store has just said. */
  readonly is: (nowMs: number) => void;
}

const WORLDS_AT_ONCE = 500;
const IDLE_AT_ONCE = 100;
const AGAIN_AFTER_MS = 30_000;
/** Among how many of the idlest worlds one without records is looked for. */
const LOOKED_AT = 500;
const [USED, HELD] = LIST_KEYS;

/** The list of worlds in the store: a sorted set by last use, what each holds, and the sum of that. */
export function valkeyDirectory(connection: StoreConnection, time: StoreTime): Directory {
  const { client } = connection;
  const reliably = <T>(work: () => Promise<T>): Promise<T> => connection.reliably(work, USED);
  const directory: Directory & { worlds: number; records: number } = {
    worlds: 0,
    records: 0,

    ids: () => reliably(() => client.zrange(USED, 0, -1)),

    async page(afterMs, count) {
      const read = (from: string, to: string, most: number) =>
        reliably(() => client.zrangebyscore(USED, from, to, 'WITHSCORES', 'LIMIT', 0, most));
      const first = await read(`(${afterMs}`, '+inf', count);
      const next = first.length < 2 * count ? null : Number(first.at(-1));
      const together = next === null ? [] : await read(String(next), String(next), -1);
      const ids = [...first, ...together].filter((_, nth) => nth % 2 === 0); // the others are their times
      return { ids: [...new Set(ids)], next };
    },

    async times(worldId) {
      const { head } = keysOf(worldId);
      const openedAtMs = await connection.reliably(() => client.hget(head, 'opened'), head);
      const usedAtMs = await reliably(() => client.zscore(USED, worldId));
      if (openedAtMs === null || usedAtMs === null) return null;
      return { openedAtMs: Number(openedAtMs), usedAtMs: Number(usedAtMs) };
    },

    async add(worldId, usedAtMs) {
      await reliably(() => client.zadd(USED, 'GT', usedAtMs, worldId));
      return reliably(() => client.zcard(USED));
    },

    async remove(worldId) {
      await reliably(() => connection.script('unlist', ...LIST_KEYS, worldId));
    },

    async leastMissed(except) {
      const idlest = await reliably(() => client.zrange(USED, 0, LOOKED_AT - 1));
      const ids = idlest.filter((id) => id !== except);
      const held = ids.length === 0 ? [] : await reliably(() => client.hmget(HELD, ...ids));
      return ids.find((_, nth) => held[nth]?.endsWith(' 0')) ?? ids[0];
    },

    async exchange(uses) {
      const texts: string[] = [];
      for (let from = 0; from === 0 || from < uses.length; from += WORLDS_AT_ONCE) {
        const args = uses
          .slice(from, from + WORLDS_AT_ONCE)
          .flatMap(({ id, usedAtMs, epoch, position, records }) => [id, usedAtMs, epoch, position, records]);
        const exchange = () => connection.script<ExchangeReply>('exchange', ...LIST_KEYS, ...args);
        const [worlds, total, listed, nowMs] = await reliably(exchange);
        time.is(nowMs);
        directory.worlds = worlds;
        directory.records = total;
        texts.push(...listed);
      }
      return texts.map((text) => {
        const [epoch = '', , held] = text.split(' ');
        return text === '' ? null : { epoch, records: Number(held) };
      });
    },

    async claimIdle(idleMs) {
      const latestUseMs = time.nowMs() - idleMs;
      const idle = await reliably(() =>
        client.zrangebyscore(USED, '-inf', latestUseMs, 'LIMIT', 0, IDLE_AT_ONCE),
      );
      const claimed: string[] = [];
      for (const worldId of idle) {
        const againMs = latestUseMs + AGAIN_AFTER_MS; // in case this server dies, or the world is not ended
        const changed = await reliably(() => client.zadd(USED, 'XX', 'GT', 'CH', againMs, worldId));
        if (changed === 1) claimed.push(worldId);
      }
      return claimed;
    },
  };
  return directory;
}
