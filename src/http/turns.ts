import fp from 'fastify-plugin';
import type { WallClock } from '../worlds/wall-clock.ts';
import type { Connections } from './limits/connections.ts';
import { takeBody } from './limits/json-body.ts';

interface TurnsOptions {
  readonly wallClock: WallClock;
  readonly connections: Connections;
}

/**
 * Works by turns of the event loop: all requests that have arrived are read, then they are handled, then their responses are written.
 * Otherwise each request would be handled between a read and a write of a socket. Those are system calls, which leave the processor's
 * caches cold: at 32 connections, a request would take up to twice as much processor time.
 */
export const turns = fp<TurnsOptions>(async (app, { wallClock, connections }) => {
  app.addHook('onRequest', (request, reply, done) => {
    takeBody(request);
    connections.inTurn(reply.raw, done);
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
