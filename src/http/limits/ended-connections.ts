import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What the owner of a request says of it. */
export interface Asked {
  /** The world that it is for; undefined before that is known. */
  readonly worldId: () => string | undefined;
  /** Called when its response or its connection has closed. @param limit the limit that ended its connection, if one did */
  readonly over: (limit: string | undefined) => void;
}

/** An exchange that is not over. */
export interface Exchange extends Asked {
  readonly response: ServerResponse;
}

export interface Connection {
  /** The exchanges that are not over, the oldest first. */
  readonly exchanges: Exchange[];
  /** Increases over all connections: the one with the lowest was idle longest. */
  touched: number;
  /** The world of its latest request that is over. */
  worldId?: string | undefined;
  /** The limit that has ended it. */
  endedBy?: string;
}

/** When a client that has finished sending is asked whether it is still there: two times soon, since the first only makes it object. */
const ASK_SOON_MS = 10;
const ASK_EVERY_MS = 100;

/**
 * A client that has finished sending either waits for its responses, or has left. Interim responses, which a client of HTTP/1.1 skips,
 * find that out: they break the connection of one that has left.
 */
export function askWhetherLeft(socket: Socket, responses: readonly ServerResponse[]): void {
  for (const response of responses) {
    if (response.req.httpVersion !== '1.1') return socket.destroySoon();
    let asked = 0;
    response.setTimeout(ASK_SOON_MS, () => {
      if (!response.headersSent) response.writeProcessing();
      asked += 1;
      response.setTimeout(asked < 2 ? ASK_SOON_MS : ASK_EVERY_MS);
    });
  }
}

const worldIdOf = ({ exchanges, worldId }: Connection): string | undefined =>
  exchanges.findLast((exchange) => exchange.worldId() !== undefined)?.worldId() ?? worldId;

/** Of the world with the most connections, the one that was idle longest; those without a world count as of one. */
export function mostExpendable(connections: ReadonlyMap<Socket, Connection>): Socket {
  const open = [...connections].map(([socket, connection]) => ({
    socket,
    connection,
    worldId: worldIdOf(connection),
  }));
  const counts = new Map<string | undefined, number>();
  for (const { worldId } of open) counts.set(worldId, (counts.get(worldId) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return open
    .filter(({ worldId }) => counts.get(worldId) === most)
    .reduce((a, b) => (b.connection.touched < a.connection.touched ? b : a)).socket;
}

/** The one with the most pipelined requests. */
export const greediest = (connections: ReadonlyMap<Socket, Connection>): Socket =>
  [...connections].reduce((a, b) => (b[1].exchanges.length > a[1].exchanges.length ? b : a))[0];
