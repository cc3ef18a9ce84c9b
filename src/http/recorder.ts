import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Scenario } from '../scenario/scenario.ts';
import { maskAccount } from '../contract/service.ts';
import { HttpExchange, pathOf } from './http-exchange.ts';
import type { Connections } from './limits/connections.ts';
import type { UnreadResponses } from './limits/unread-responses.ts';

/** Begins the exchange of a request, and writes its log line once it is over, whatever became of it. */
export type Recorder = (request: FastifyRequest, reply: FastifyReply) => void;

export interface Recording {
  readonly log: Logger;
  readonly connections: Connections;
  readonly unread: UnreadResponses;
  readonly observe: ((exchange: HttpExchange) => void) | undefined;
  readonly stopwatchMs: () => number;
  /** The scenario in whose dialect a request is answered before it has a world. */
  readonly scenarioOf: (url: string) => Scenario;
}

function outcomeOf({ reply: { raw }, fault }: HttpExchange): 'answered' | 'fault' | 'client_gone' {
  if (fault === 'malformed-json') return 'fault';
  if (raw.writableFinished) return 'answered';
  return fault === undefined ? 'client_gone' : 'fault';
}

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The trace that a request belongs to, by the W3C's Trace Context; undefined without a valid header. */
function traceOf({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** The account that a payout was initiated to, masked. */
function accountOf(exchange: HttpExchange): string | undefined {
  const isDecided = exchange.decided !== undefined && exchange.route === 'initiate';
  const account = isDecided ? exchange.named('beneficiary_account') : undefined;
  return account === undefined ? undefined : maskAccount(account);
}

/** Its log line. */
function lineOf(exchange: HttpExchange): object {
  const { request, route, world, decided, refusal } = exchange;
  return {
    world: world?.id.slice(0, 8),
    world_name: world?.latest.name ?? undefined,
    request_id: request.id,
    method: request.method,
    route,
    path: route === undefined ? pathOf(request) : undefined,
    status: exchange.status,
    duration_ms: exchange.durationMs,
    code: exchange.code,
    client_ref_id: decided?.clientRefId ?? (route && exchange.named('client_ref_id')),
    txn_id: decided?.txnId,
    beneficiary_account: accountOf(exchange),
    replayed: decided?.replayed,
    warnings: exchange.warnings,
    limit: refusal?.details.limit ?? decided?.limit,
    rule: decided?.rule ?? refusal?.details.rule,
    committed: decided?.result.effect ? decided.committed : undefined, // otherwise the status implies it
    delay_ms: decided?.delayMs,
    fault: exchange.fault,
    client_gone: exchange.outcome === 'client_gone' ? true : undefined,
    traceparent: traceOf(request),
  };
}

export const requestRecorder =
  ({ log, connections, unread, observe, stopwatchMs, scenarioOf }: Recording): Recorder =>
  (request, reply) => {
    const exchange = new HttpExchange(request, reply, scenarioOf(request.url).dialect, stopwatchMs);
    request.exchange = exchange;
    connections.began(reply.raw, () => {
      unread.read(reply.raw);
      try {
        exchange.close(outcomeOf(exchange));
        observe?.(exchange);
        log[exchange.isQuiet ? 'debug' : 'info'](lineOf(exchange), 'request');
      } catch (error) {
        // the response has been sent, so the error can only be logged: it must not end a process with many worlds
        log.error({ err: error, request_id: request.id }, 'internal error in the sandbox');
      }
    });
  };
