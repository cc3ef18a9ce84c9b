import type { FastifyInstance } from 'fastify';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { Worlds } from '../worlds/worlds.ts';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

interface Parts {
  readonly worlds: Worlds;
  readonly scenarios: ScenarioLibrary;
  /** The state file; null without one. */
  readonly kept: { readonly start: () => void; readonly end: () => Promise<void> } | null;
  readonly pressure: { readonly start: () => () => void };
}

/** Starts what runs beside the requests once the server listens, and ends it with the server. */
export function startAndEnd(app: FastifyInstance, { worlds, scenarios, kept, pressure }: Parts): void {
  let endPressure = (): void => undefined;
  app.addHook('onListen', () => {
    scenarios.watch();
    kept?.start();
    endPressure = pressure.start();
  });
  app.addHook('preClose', (done) => {
    worlds.release(); // held responses would keep connections open
    scenarios.close();
    done();
  });
  app.addHook('onClose', async () => {
    endPressure();
    try {
      await kept?.end();
    } finally {
      await worlds.close();
    }
  });
}

const CHECK_EVERY_MS = 20;
/**
 * How many checks requests under way may last before their connections are cut: 800 ms. Checks are counted instead of time,
 * since a process that was paused as it stopped has not had that time to answer.
 */
const GRACE_CHECKS = 40;

/** Makes a function that stops a server within a second: requests under way are answered, idle connections are closed. */
export function gracefulStop(server: Server, close: () => Promise<unknown>): () => Promise<void> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  const closeIdle = (): void => {
    server.closeIdleConnections();
    // Node considers a connection busy that has not sent anything yet, such as the spare one of a browser
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };

  return async () => {
    let checks = 0;
    const check = setInterval(() => {
      closeIdle(); // a keep-alive connection whose last request ends while we stop would delay the stop until it times out
      if ((checks += 1) >= GRACE_CHECKS) for (const socket of open) socket.destroy();
    }, CHECK_EVERY_MS);
    try {
      await close();
      await Promise.all([...open].map((socket) => once(socket, 'close'))); // requests that were cut still write their log lines
    } finally {
      clearInterval(check);
    }
  };
}
