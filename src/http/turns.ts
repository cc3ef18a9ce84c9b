import type { Socket } from 'node:net';
import fp from 'fastify-plugin';
import type { WallClock } from '../worlds/wall-clock.ts';
import { takeChunks } from './limits/json-body.ts';

interface TurnsOptions {
  readonly wallClock: WallClock;
  /** Whether a connection has ended: its requests are then not carried out, since nobody could be told. */
  readonly isEnded: (socket: Socket) => boolean;
}

/**
 * Works by turns of the event loop: all requests that have arrived are read, then they are handled, then their responses are written.
 * Otherwise each request would be handled between a read and a write of a socket. Those are system calls, which leave the processor's
 * caches cold: at 32 connections, a request would take up to twice as much processor time.
 *
 * A round handles one request of each connection, so that a client that pipelines many does not keep the others waiting.
 */
export const turns = fp<TurnsOptions>(async (app, { wallClock, isEnded }) => {
  /** The requests that wait to be handled, by connection, the oldest first. */
  const waiting = new Map<Socket, (() => void)[]>();
  const handleRound = (): void => {
    for (const [socket, requests] of waiting) {
      const handle = requests.shift()!;
      if (requests.length === 0) waiting.delete(socket);
      handle();
    }
    // the next round once all that this one can do has been done, but before more is read: each request that waits takes kilobytes
    if (waiting.size > 0) void Promise.resolve().then(() => process.nextTick(handleRound));
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (!takeChunks(request)) return done();
    const { socket } = request.raw;
    const handle = (): void => {
      if (isEnded(socket)) void reply.hijack();
      done();
    };
    const before = waiting.get(socket);
    if (before !== undefined) return void before.push(handle);
    if (waiting.size === 0) wallClock.nextTurn(handleRound);
    waiting.set(socket, [handle]);
  });

  /** The responses that wait to be written. */
  let handled: (() => void)[] = [];
  const writeAll = (): void => {
    const responses = handled;
    handled = [];
    for (const write of responses) write();
  };
  app.addHook('onSend', ({ routeOptions: { config } }, _reply, payload, done) => {
    if (config.name === undefined) return done(null, payload); // not of the payout service
    const write = (): void => {
      try {
        done(null, payload);
      } catch (error) {
        done(error as Error); // as Fastify does with an error of a hook
      }
    };
    if (handled.push(write) === 1) wallClock.nextTurn(writeAll);
  });
});
