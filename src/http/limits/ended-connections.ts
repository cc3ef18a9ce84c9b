import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What the owner of a request says of it. */
export interface Asked {
  readonly response: ServerResponse;
  /** The world that it is for; undefined before that is known. */
  readonly worldId: () => string | undefined;
  /** Called when its response or its connection has closed. @param limit the limit that ended its connection, if one did */
  readonly over: (limit: string | undefined) => void;
}

export interface Connection {
  /** The requests that are not over, the oldest first: that one is under way, the others wait. */
  readonly requests: (Asked & { handle?: () => void })[];
  /** Increases over all connections when a request begins or ends: the one with the lowest was idle longest. */
  touched: number;
  /** The world of its latest request that is over. */
  worldId?: string | undefined;
}

const worldOf = ({ requests, worldId }: Connection): string | undefined => requests[0]?.worldId() ?? worldId;

/** Whether nothing is under way on it: of a request that has not come whole, nothing was done. */
const isIdle = ({ requests }: Connection): boolean =>
  requests.every(({ response }) => !response.req.complete && !response.headersSent);

/** One that is idle: of the world with the most connections that has one, the one that was idle longest; null for none. */
export function mostExpendable(connections: ReadonlyMap<Socket, Connection>): Socket | null {
  const counts = new Map<string | undefined, number>(); // those without a world count as of one
  for (const connection of connections.values()) {
    const worldId = worldOf(connection);
    counts.set(worldId, (counts.get(worldId) ?? 0) + 1);
  }
  const countOf = (connection: Connection): number => counts.get(worldOf(connection))!;
  const idle = [...connections].filter(([, connection]) => isIdle(connection));
  const better = (a: Connection, b: Connection): number => countOf(a) - countOf(b) || b.touched - a.touched;
  return idle.length === 0 ? null : idle.reduce((a, b) => (better(b[1], a[1]) > 0 ? b : a))[0];
}

/** The one that has the most of something; undefined for no connection. */
export function most(
  connections: ReadonlyMap<Socket, Connection>,
  amount: (connection: Connection, socket: Socket) => number,
): Socket | undefined {
  const all = [...connections].map(([socket, connection]) => [socket, amount(connection, socket)] as const);
  return all.length === 0 ? undefined : all.reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}
