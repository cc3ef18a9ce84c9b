import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Dialect } from '../contract/dialect.ts';
import type { RefusalData } from '../contract/errors.ts';
import type { RouteName } from '../contract/match.ts';
import { maskAccount, MAX_TEXT_LENGTH, withoutKeys, type InitiateRequest } from '../contract/service.ts';
import type { ExchangePlace, WorldHandle } from '../log/world-log.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Answered, Exchange, ExchangeOutcome } from '../world/journal/exchange.ts';
import type { RequestResult } from '../world/request/request-result.ts';
import type { Connections } from './limits/connections.ts';
import type { UnreadAnswers } from './limits/unread-answers.ts';

/** The facts of an exchange. Each is set once, when it becomes known, and is absent before. */
declare module 'fastify' {
  interface FastifyRequest {
    /** The scenario that applies to this request, as it was when the request came. */
    scenario: Scenario;
    /** The scenario that its header chose; absent when that of its world applies. */
    chosenScenario?: Scenario;
    /** The dialect of its answer. */
    dialect: Dialect;
    /** The world of the request's key; undefined before it is known, and for requests of no world. */
    world: WorldHandle;
    /** Set when a request of the service is admitted to its world. Times are world time and wall time. */
    arrival?: Pick<Exchange, 'atMs' | 'wallMs' | 'headers'>;
    journalPlace?: ExchangePlace;
    /** The body as it came, without a byte order mark; set by the parser of JSON bodies. */
    bodyText?: string;
    /** Why a bank might refuse the payout; set by the initiate route. */
    warnings?: readonly string[];
    /** The result that the world returned for the request; set by the routes of the service. */
    result?: RequestResult;
    /** True for what only a debug log shows. */
    isQuiet?: boolean;
    /** How long it has taken so far. */
    elapsedMs: () => number;
  }
  interface FastifyReply {
    /** Why the request was refused; set with the answer that says so. */
    refusal?: RefusalData;
    /** What a rule orders in addition to the text of the answer; set before the answer leaves. */
    ordered?: Partial<Pick<Exchange, 'code' | 'fault' | 'delayMs'>>;
    /** What was answered, or would have been but for a fault; set before its first byte leaves. */
    answered?: Answered;
    /** How the exchange ended; set when its connection is done with it, even if the server is still working on it. */
    ended?: End;
  }
}

type End = Pick<Exchange, 'outcome' | 'durationMs'>;

const PENDING: End = { outcome: 'pending', durationMs: undefined };

/** The end of an exchange that ends now. */
const endOf = ({ request }: FastifyReply, outcome: ExchangeOutcome): End => ({
  outcome,
  durationMs: hundredths(request.elapsedMs()),
});

const hundredths = (ms: number): number => Math.round(ms * 100) / 100;

/** A field that a request of the service names, if its text is one that a payout could have. */
function namedField({ body, query }: FastifyRequest, route: RouteName, field: keyof InitiateRequest) {
  const fields = (route === 'initiate' ? body : query) as
    Readonly<Record<string, unknown>> | null | undefined;
  const text = fields?.[field];
  return typeof text === 'string' && text.length <= MAX_TEXT_LENGTH ? text : undefined;
}

/**
 * Everything that is known of an exchange so far, as one record: for the journal, the log and the metrics.
 *
 * @param expected the end to record while it has not ended
 */
function exchangeOf(reply: FastifyReply, expected = PENDING): Exchange {
  const { request, ended } = reply;
  const { outcome, durationMs } = ended ?? expected;
  const { arrival, result, warnings, world } = request;
  const { refusal, ordered, answered } = reply;
  const route = request.routeOptions?.config?.name;
  const answer = result?.answer;
  const isInitiate = route === 'initiate';
  const payout = answer?.kind === 'payout' && result?.balances !== null ? answer.payout : undefined;
  return {
    nth: request.journalPlace?.nth ?? 0,
    requestId: request.id,
    method: request.method,
    url: request.url,
    headers: arrival?.headers ?? {},
    atMs: arrival?.atMs ?? 0,
    wallMs: arrival?.wallMs ?? 0,
    outcome,
    worldId: world?.id,
    route,
    body: request.bodyText,
    attempt: result?.attempt,
    answer: answered,
    durationMs,
    endedAfter: undefined,
    balanceBeforePaise: result?.balances?.beforePaise,
    balancePaise: result?.balances?.afterPaise,
    code: ordered?.code ?? refusal?.code,
    clientRefId: payout?.clientRefId ?? (route && namedField(request, route, 'client_ref_id')),
    txnId: payout?.txnId,
    account: result && isInitiate ? namedField(request, route, 'beneficiary_account') : undefined,
    replayed: answer?.kind === 'payout' && answer.replayed ? true : undefined,
    warnings,
    limit: refusal?.details.limit,
    rule: result?.effect?.rule ?? refusal?.details.rule,
    committed: isInitiate && (result?.effect || answered === undefined) ? result?.committed : undefined, // otherwise the answer implies it
    plannedBy: result?.committed ? payout?.plannedBy : undefined,
    delayMs: ordered?.delayMs,
    fault: ordered?.fault,
  };
}

const BYTES_EACH_TEXT = 32; // what a name or a value takes in addition to its characters

/** Enters a request in the journal of its world. */
export function journalRequest(reply: FastifyReply, world: WorldHandle, wallMs: number): void {
  const { request } = reply;
  let headersLength = 0;
  for (const text of request.raw.rawHeaders) headersLength += text.length + BYTES_EACH_TEXT;
  request.world = world;
  request.arrival = { atMs: world.nowMs, wallMs, headers: withoutKeys(request.headers) };
  request.journalPlace = world.journal.begin(exchangeOf(reply), headersLength);
  if (reply.ended !== undefined) void request.journalPlace.update(exchangeOf(reply)); // its client left while a store was asked
}

/** Records in the journal that the answer to a request waits, and announces it to readers of events, unless the client leaves meanwhile. */
export async function noteWait(reply: FastifyReply): Promise<void> {
  const exchange = exchangeOf(reply);
  await reply.request.journalPlace?.update(exchange);
  if (reply.ended === undefined) reply.request.world.announce(exchange);
}

/**
 * Notes an answer before its first byte is sent, so that a client that has the answer finds it in the journal. If nobody waits
 * for it any more, only the result of the request is noted. A request whose answer is sent at once and whole is noted as
 * answered, since its client may then ask another server, and this one may be killed. The end of the exchange corrects that.
 *
 * @returns a promise when the journal is in a store
 */
export function noteAnswer(reply: FastifyReply, body: string): void | Promise<void> {
  if (reply.ended === undefined) {
    reply.answered = { status: reply.statusCode, headers: reply.getHeaders(), body };
  } else {
    delete reply.refusal;
  }
  const leavesNow = reply.ordered?.fault === undefined && reply.raw.socket !== null; // null behind another answer
  return reply.request.journalPlace?.update(
    exchangeOf(reply, leavesNow ? endOf(reply, 'answered') : PENDING),
  );
}

/** The path without its query, which may hold anything. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The trace that a request belongs to, by the W3C's Trace Context; undefined without a valid header. */
function traceOf({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** The log line of an exchange that is over. */
const lineOf = (exchange: Exchange, { raw, request }: FastifyReply): object => ({
  world: exchange.worldId?.slice(0, 8),
  request_id: exchange.requestId,
  method: exchange.method,
  route: exchange.route,
  path: exchange.route === undefined ? pathOf(request) : undefined,
  status: raw.headersSent ? raw.statusCode : undefined,
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
  traceparent: traceOf(request),
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
    request.elapsedMs = () => stopwatchMs() - startedMs;
    connections.began(reply.raw, () => {
      unread.read(reply.raw);
      try {
        reply.ended = endOf(reply, outcomeOf(reply));
        const exchange = exchangeOf(reply);
        observe?.(exchange, request, reply);
        const line = lineOf(exchange, reply);
        log[request.isQuiet ? 'debug' : 'info'](line, 'request');
        if (request.journalPlace === undefined) return;
        void request.journalPlace.update(exchange);
        request.world.announce(exchange);
      } catch (error) {
        // the answer has been sent, so the error can only be logged: it must not end a process with many worlds
        log.error({ err: error, request_id: request.id }, 'internal error in the sandbox');
      }
    });
  };

type SandboxHeader =
  'idempotent-replayed' | 'x-sandbox-limit' | 'x-sandbox-request-id' | 'x-sandbox-rule' | 'x-sandbox-warning';

/** Sends a header that the real service would not send, unless the dialect leaves such headers out. */
export function setSandboxHeader(reply: FastifyReply, name: SandboxHeader, value: string): void {
  if (reply.request.dialect.answers.sandbox_headers === 'sent') void reply.header(name, value);
}

/** Sends the id of a request, by which its log line can be found. */
export const setRequestId = (reply: FastifyReply): void =>
  setSandboxHeader(reply, 'x-sandbox-request-id', reply.request.id);
