import type { FastifyInstance } from 'fastify';
import type { WallClock } from '../log/wall-clock.ts';

/**
 * The requests that arrive in one turn of the event loop are handled one after the other, and then their responses are written.
 * Otherwise each request would run between a read and a write of a socket. Those are calls of the kernel, which leave the
 * processor's caches cold: with many connections, a request would take up to twice as much processor time.
 */

/** Lets a request wait until all that arrive in the same turn have been read. Each is then handled as if it came alone. */
export const handleAfterReading = (wallClock: WallClock, handle: () => void): void =>
  wallClock.nextTurn(handle);

/** Lets a response wait until all requests of its turn have been handled. */
export function writeAfterHandling(app: FastifyInstance, wallClock: WallClock): void {
  let waiting: { done: (error?: Error | null, payload?: unknown) => void; payload: unknown }[] = [];
  const write = (): void => {
    const responses = waiting;
    waiting = [];
    for (const { done, payload } of responses) {
      try {
        done(null, payload);
      } catch (error) {
        done(error as Error); // as Fastify does with an error of a hook
      }
    }
  };
  app.addHook('onSend', (_request, _reply, payload, done) => {
    if (waiting.push({ done, payload }) === 1) wallClock.nextTurn(write);
  });
}
