import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Answered, Exchange } from '../world/exchange.ts';
import type { Kept } from '../world/bounded-log.ts';
import { journalEntry } from '../world/journal-entry.ts';
import type { World } from '../log/world.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What is known of this request so far, for its log line and for the journal. */
    record: Exchange;
    /** Its place in the journal of its world; null while it has none. */
    journaled: Kept<Exchange> | null;
    /** When it came, by a clock that only measures. */
    startedMs: number;
  }
}

/** The last four characters of an account; nothing of one that has no more than that. */
const maskAccount = (account: string): string =>
  account.length <= 4 ? '*'.repeat(account.length) : '*'.repeat(account.length - 4) + account.slice(-4);

/** The path without its query, which may hold anything. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;

function line(request: FastifyRequest, reply: FastifyReply): object {
  const { record } = request;
  return {
    world: record.worldId?.slice(0, 8),
    request_id: request.id,
    method: request.method,
    route: record.route,
    path: record.route === undefined ? pathOf(request) : undefined,
    status: reply.raw.headersSent ? reply.raw.statusCode : undefined,
    duration_ms: record.durationMs,
    code: record.code,
    client_ref_id: record.clientRefId,
    txn_id: record.txnId,
    beneficiary_account: record.account === undefined ? undefined : maskAccount(record.account),
    replayed: record.replayed,
    warnings: record.warnings?.length ? record.warnings : undefined,
    limit: record.limit,
    rule: record.rule,
    committed: record.committed,
    delay_ms: record.delayMs,
    fault: record.fault,
    client_gone: record.outcome === 'client_gone' ? true : undefined,
  };
}

const EXCHANGES = Symbol('the exchanges of a connection that are not over');
const AFTERWARDS = Symbol('what happens once they are');

/** The exchanges that are not over, as functions that end them, each with its answer. */
type Open = Map<() => void, ServerResponse>;

interface Recorded extends Socket {
  [EXCHANGES]?: Open;
  [AFTERWARDS]?: () => void;
}

/**
 * The exchanges of a connection that are not over. A connection that breaks ends them all: the answers that wait behind
 * another one on it never hear of it otherwise.
 */
function openExchanges(socket: Recorded): Open {
  const known = socket[EXCHANGES];
  if (known !== undefined) return known;
  const open: Open = new Map();
  socket[EXCHANGES] = open;
  socket.once('close', () => open.forEach((_answer, over) => over()));
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

/** Begins the record of a request, and writes its log line once its exchange is over, whatever became of it. */
export type Recorder = (request: FastifyRequest, reply: FastifyReply) => void;

/** Who is told of each exchange. */
interface Exchanges {
  readonly began: Recorder;
  readonly over: Recorder;
}

const blankRecord = ({ id, method, url, headers }: FastifyRequest): Exchange => ({
  nth: 0,
  requestId: id,
  method,
  url,
  headers,
  atMs: 0,
  wallMs: 0,
  outcome: 'pending',
  worldId: undefined,
  route: undefined,
  body: undefined,
  attempt: undefined,
  answer: undefined,
  durationMs: undefined,
  balanceBeforePaise: undefined,
  balancePaise: undefined,
  code: undefined,
  clientRefId: undefined,
  txnId: undefined,
  account: undefined,
  replayed: undefined,
  warnings: undefined,
  limit: undefined,
  rule: undefined,
  committed: undefined,
  delayMs: undefined,
  fault: undefined,
  quiet: undefined,
});

const hundredths = (ms: number): number => Math.round(ms * 100) / 100;

/**
 * Makes a recorder.
 *
 * @param stopwatchMs measures how long an exchange took
 */
export const requestRecorder =
  (log: Logger, stopwatchMs: () => number, exchanges: Exchanges): Recorder =>
  (request, reply) => {
    request.startedMs = stopwatchMs();
    const record = blankRecord(request);
    request.record = record;
    const socket: Recorded = request.raw.socket;
    const open = openExchanges(socket);
    const over = (): void => {
      if (!open.delete(over)) return;
      const isWhole = reply.raw.writableFinished;
      record.outcome =
        record.fault !== undefined && !isWhole ? 'fault' : isWhole ? 'answered' : 'client_gone';
      if (record.fault === 'malformed-json') record.outcome = 'fault';
      record.durationMs = hundredths(stopwatchMs() - request.startedMs);
      try {
        exchanges.over(request, reply);
        // what the control API is asked is no business of a payout client: told only to those who want to know all
        if (record.quiet === true) log.debug(line(request, reply), 'request');
        else log.info(line(request, reply), 'request');
        if (record.nth > 0) request.world.events.publish('request', () => journalEntry(record));
      } catch (error) {
        // the answer is given, and nobody is left to be told but the log: a process with many worlds must not end by it
        log.error({ err: error, request_id: request.id }, 'a fault of the sandbox');
      }
      if (socket[AFTERWARDS] !== undefined && !owesAnswer(socket)) socket[AFTERWARDS]();
    };
    open.set(over, reply.raw);
    reply.raw.once('close', over);
    exchanges.began(request, reply);
  };

/** Takes in the body of a request that has none to be read: left where it is, it would hide that the client leaves. */
function dropBody({ method, raw }: FastifyRequest): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (method === 'GET' && (length !== undefined || encoding !== undefined)) raw.resume();
}

/** One log line a request. */
export function recordRequests(app: FastifyInstance, record: Recorder): void {
  app.decorateRequest('record');
  app.decorateRequest('journaled', null);
  app.decorateRequest('startedMs', 0);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.raw.socket.destroyed) return; // it came with those for which its connection was ended: nobody waits for it
    record(request, reply);
    dropBody(request);
    done();
  });
}

/** How many characters the headers of a request have. */
function headersLength({ raw: { rawHeaders } }: FastifyRequest): number {
  let length = 0;
  for (const text of rawHeaders) length += text.length;
  return length;
}

/** Takes a request into the journal of its world, as soon as that is known. */
export function journalRequest(request: FastifyRequest, world: World, wallMs: number): void {
  const { record } = request;
  record.worldId = world.id;
  record.atMs = world.nowMs;
  record.wallMs = wallMs;
  request.journaled = world.journal.begin(record, headersLength(request));
}

/** Notes the body of a request as it came. */
export function noteBody({ record, journaled, world }: FastifyRequest, text: string): void {
  if (journaled === null) return;
  record.body = text;
  world.journal.grow(journaled, text.length);
}

/** Notes an answer, before its first byte leaves: whoever has it finds it in the journal. */
export function noteAnswer({ record, journaled, world }: FastifyRequest, answer: Answered): void {
  if (journaled === null) return;
  record.answer = answer;
  world.journal.grow(journaled, answer.body.length);
}
