import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { WallClock } from '../log/wall-clock.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { HttpExchange } from './http-exchange.ts';
import type { Connections } from './limits/connections.ts';
import type { UnreadResponses } from './limits/unread-responses.ts';

/** Begins the exchange of a request, and writes its log line once it is over, whatever became of it. */
export type Recorder = (request: FastifyRequest, reply: FastifyReply) => void;

export type ExchangeObserver = (exchange: HttpExchange) => void;

interface Recording {
  readonly log: Logger;
  readonly wallClock: WallClock;
  readonly connections: Connections;
  readonly unread: UnreadResponses;
  readonly observe: ExchangeObserver | undefined;
  readonly stopwatchMs: () => number;
  /** The scenario in whose dialect a request is answered before it has a world. */
  readonly scenarioOf: (url: string) => Scenario;
}

function outcomeOf({ reply: { raw }, fault }: HttpExchange): 'answered' | 'fault' | 'client_gone' {
  if (fault === 'malformed-json') return 'fault';
  if (raw.writableFinished) return 'answered';
  return fault === undefined ? 'client_gone' : 'fault';
}

export const requestRecorder =
  ({ log, wallClock, connections, unread, observe, stopwatchMs, scenarioOf }: Recording): Recorder =>
  (request, reply) => {
    const exchange = new HttpExchange(request, reply, scenarioOf(request.url).dialect, stopwatchMs);
    request.exchange = exchange;
    connections.began(reply.raw, () => {
      unread.read(reply.raw);
      try {
        exchange.close(outcomeOf(exchange), wallClock);
        observe?.(exchange);
        log[exchange.isQuiet ? 'debug' : 'info'](exchange.line(), 'request');
      } catch (error) {
        // the response has been sent, so the error can only be logged: it must not end a process with many worlds
        log.error({ err: error, request_id: request.id }, 'internal error in the sandbox');
      }
    });
  };
