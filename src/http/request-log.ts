import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Exchange, ExchangeOutcome } from '../world/exchange.ts';
import { decorateExchanges, exchangeOf } from './exchange-record.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When it came, by a clock that only measures. */
    startedMs: number;
  }
}

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

const EXCHANGES = Symbol('the exchanges of a connection that are not over');
const AFTERWARDS = Symbol('what happens once they are');

/** The exchanges that are not over, as functions that end them, each with its response. */
type Open = Map<() => void, ServerResponse>;

interface Recorded extends Socket {
  [EXCHANGES]?: Open;
  [AFTERWARDS]?: () => void;
}

/**
 * The exchanges of a connection that are not over. A connection that breaks ends them all: the answers that wait behind
 * another one on it are never told otherwise.
 */
function openExchanges(socket: Recorded): Open {
  const known = socket[EXCHANGES];
  if (known !== undefined) return known;
  const open: Open = new Map();
  socket[EXCHANGES] = open;
  socket.once('close', () => open.forEach((_response, over) => over()));
  return open;
}

/** Whether a request that came whole is not answered so far, or any is in the middle of its answer. */
const owesAnswer = (socket: Recorded): boolean =>
  [...(socket[EXCHANGES]?.values() ?? [])].some(({ req, headersSent }) => req.complete || headersSent);

/**
 * Does something once every request that came whole on a connection is answered: at once where there is none. The first time
 * counts.
 */
export function afterAnswers(socket: Recorded, run: () => void): void {
  if (owesAnswer(socket)) socket[AFTERWARDS] ??= run;
  else run();
}

/** Begins to watch a request, and writes its log line once its exchange is over, whatever became of it. */
export type Recorder = (request: FastifyRequest, reply: FastifyReply) => void;

/** Told of an exchange that is over. */
export type ExchangeObserver = (exchange: Exchange, request: FastifyRequest, reply: FastifyReply) => void;

interface Exchanges {
  readonly began: (request: FastifyRequest) => void;
  readonly over: ExchangeObserver;
}

const hundredths = (ms: number): number => Math.round(ms * 100) / 100;

function outcomeOf({ raw, ordered }: FastifyReply): ExchangeOutcome {
  const isWhole = raw.writableFinished;
  if (ordered?.fault === 'malformed-json') return 'fault';
  if (isWhole) return 'answered';
  return ordered?.fault === undefined ? 'client_gone' : 'fault';
}

/**
 * Makes a recorder.
 *
 * @param stopwatchMs measures how long an exchange took
 */
export const requestRecorder =
  (log: Logger, stopwatchMs: () => number, exchanges: Exchanges): Recorder =>
  (request, reply) => {
    request.startedMs = stopwatchMs();
    const socket: Recorded = request.raw.socket;
    const open = openExchanges(socket);
    const over = (): void => {
      if (!open.delete(over)) return;
      try {
        const durationMs = hundredths(stopwatchMs() - request.startedMs);
        const exchange = exchangeOf(request, reply, outcomeOf(reply), durationMs);
        exchanges.over(exchange, request, reply);
        const line = lineOf(exchange, request, reply);
        if (request.isQuiet) log.debug(line, 'request');
        else log.info(line, 'request');
        request.arrival?.place.update(exchange);
        if (request.arrival !== null) request.world.announce(exchange);
      } catch (error) {
        // the answer is given, and only the log is left to say so: a process with many worlds must not end by it
        log.error({ err: error, request_id: request.id }, 'a fault of the sandbox');
      }
      if (socket[AFTERWARDS] !== undefined && !owesAnswer(socket)) socket[AFTERWARDS]();
    };
    open.set(over, reply.raw);
    reply.raw.once('close', over);
    exchanges.began(request);
  };

/** Takes in the body of a request that has none to be read: left where it is, it would hide that the client leaves. */
function dropBody({ method, raw }: FastifyRequest): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (method === 'GET' && (length !== undefined || encoding !== undefined)) raw.resume();
}

/** One log line for each request. */
export function recordRequests(app: FastifyInstance, record: Recorder): void {
  decorateExchanges(app);
  app.decorateRequest('startedMs', 0);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.raw.socket.destroyed) return; // it came with those for which its connection was ended: nobody waits for it
    record(request, reply);
    dropBody(request);
    done();
  });
}
