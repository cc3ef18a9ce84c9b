import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Scenario } from '../scenario/scenario.ts';
import type { Exchange, ExchangeOutcome } from '../world/journal/exchange.ts';
import { decorateExchanges, exchangeOf } from './exchange-record.ts';
import type { Connections } from './limits/connections.ts';
import type { UnreadAnswers } from './limits/unread-answers.ts';

/** The last four characters of an account; nothing of one that has no more than that. */
const maskAccount = (account: string): string =>
  account.length <= 4 ? '*'.repeat(account.length) : '*'.repeat(account.length - 4) + account.slice(-4);

/** The path without its query, which may hold anything. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;

/** The log line of an exchange that is over. */
const lineOf = (exchange: Exchange, request: FastifyRequest, reply: FastifyReply): object => ({
  world: exchange.worldId?.slice(0, 8),
  request_id: exchange.requestId,
  method: exchange.method,
  route: exchange.route,
  path: exchange.route === undefined ? pathOf(request) : undefined,
  status: reply.raw.headersSent ? reply.raw.statusCode : undefined,
  duration_ms: exchange.durationMs,
  code: exchange.code,
  client_ref_id: exchange.clientRefId,
  txn_id: exchange.txnId,
  beneficiary_account: exchange.account === undefined ? undefined : maskAccount(exchange.account),
  replayed: exchange.replayed,
  warnings: exchange.warnings?.length ? exchange.warnings : undefined,
  limit: exchange.limit,
  rule: exchange.rule,
  committed: exchange.committed,
  delay_ms: exchange.delayMs,
  fault: exchange.fault,
  client_gone: exchange.outcome === 'client_gone' ? true : undefined,
});

/** Begins the exchange of a request: chooses its scenario, and writes its log line once it is over, whatever became of it. */
export type Recorder = (request: FastifyRequest, reply: FastifyReply) => void;

/** Called with each exchange that is over. */
export type ExchangeObserver = (exchange: Exchange, request: FastifyRequest, reply: FastifyReply) => void;

interface Recording {
  readonly log: Logger;
  readonly connections: Connections;
  readonly unread: UnreadAnswers;
  readonly observe: ExchangeObserver | undefined;
  /** Measures how long an exchange took. */
  readonly stopwatchMs: () => number;
  /** The scenario in whose dialect a request is answered before it has a world. */
  readonly scenarioOf: (url: string) => Scenario;
}

const hundredths = (ms: number): number => Math.round(ms * 100) / 100;

function outcomeOf({ raw, ordered }: FastifyReply): ExchangeOutcome {
  if (ordered?.fault === 'malformed-json') return 'fault';
  if (raw.writableFinished) return 'answered';
  return ordered?.fault === undefined ? 'client_gone' : 'fault';
}

export const requestRecorder =
  ({ log, connections, unread, observe, stopwatchMs, scenarioOf }: Recording): Recorder =>
  (request, reply) => {
    request.scenario = scenarioOf(request.url);
    request.dialect = request.scenario.dialect;
    const startedMs = stopwatchMs();
    connections.began(reply.raw, () => {
      unread.read(reply.raw);
      try {
        const durationMs = hundredths(stopwatchMs() - startedMs);
        const exchange = exchangeOf(request, reply, outcomeOf(reply), durationMs);
        observe?.(exchange, request, reply);
        const line = lineOf(exchange, request, reply);
        if (request.isQuiet) log.debug(line, 'request');
        else log.info(line, 'request');
        if (!request.arrival) return;
        void request.arrival.place.update(exchange);
        request.world.announce(exchange);
      } catch (error) {
        // the answer is given, and only the log is left to say so: a process with many worlds must not end by it
        log.error({ err: error, request_id: request.id }, 'a fault of the sandbox');
      }
    });
  };

/** Takes in the body of a request that has none to be read: left where it is, it would hide that the client leaves. */
function dropBody({ method, raw }: FastifyRequest): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (method === 'GET' && (length !== undefined || encoding !== undefined)) raw.resume();
}

/** Records every request that a hook meets. */
export function recordRequests(app: FastifyInstance, record: Recorder): void {
  decorateExchanges(app);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.raw.socket.destroyed) return; // it came with those for which its connection was ended: nobody waits for it
    record(request, reply);
    dropBody(request);
    done();
  });
}
