import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Dialect } from '../contract/dialect.ts';
import type { RefusalData } from '../contract/errors.ts';
import { MAX_TEXT_LENGTH, type InitiateRequest } from '../contract/service.ts';
import type { ExchangePlace, WorldHandle } from '../log/world-log.ts';
import type { Scenario } from '../scenario/scenario.ts';
import {
  type Answered,
  type Exchange,
  type ExchangeOutcome,
  type RequestHeaders,
  withoutKeys,
} from '../world/journal/exchange.ts';
import type { RequestResult } from '../world/requests.ts';

/** When and where a request of the service came to its world. */
interface Arrival {
  readonly place: ExchangePlace;
  /** World time and wall time, ms since the epoch. */
  readonly atMs: number;
  readonly wallMs: number;
  /** Without keys. */
  readonly headers: RequestHeaders;
}

/** What a rule made of an answer, as far as the answer's own text does not say it. */
interface OrderedAnswer {
  /** The `code` in its body. */
  readonly code?: string | undefined;
  /** The fault that breaks the connection. */
  readonly fault?: string | undefined;
  /** How long it is held back, in ms of wall time. */
  readonly delayMs?: number | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The scenario that holds for this request, as it was when the request came. */
    scenario: Scenario;
    /** The scenario that it chose by a header; null for that of its world. */
    chosenScenario: Scenario | null;
    /** How its answer is written. */
    dialect: Dialect;
    /** The world of the request's key; undefined before it is known, and for requests of no world. */
    world: WorldHandle;
    /** Set when a request of the service is admitted to its world; null before. */
    arrival: Arrival | null;
    /** The body as it came; set by the parser of JSON bodies. */
    bodyText: string | undefined;
    /** What the bank would doubt; set by the initiate route. */
    warnings: readonly string[];
    /** What the world made of the request; set by the routes of the service. */
    result: RequestResult | null;
    /** True for what only a debug log shows. */
    isQuiet: boolean;
  }
  interface FastifyReply {
    /** Why the request was refused; set with the answer that says so. */
    refusal: RefusalData | null;
    /** What a rule orders; set before the answer leaves. */
    ordered: OrderedAnswer;
    /** What was answered, or would have been but for a fault; set before its first byte leaves. */
    answered: Answered | undefined;
  }
}

/** Makes room for the facts of an exchange, each of which is set once, where it arises. */
export function decorateExchanges(app: FastifyInstance): void {
  app.decorateRequest('scenario');
  app.decorateRequest('chosenScenario', null);
  app.decorateRequest('dialect');
  app.decorateRequest('world');
  app.decorateRequest('arrival', null);
  app.decorateRequest('bodyText', undefined);
  app.decorateRequest('warnings');
  app.decorateRequest('result', null);
  app.decorateRequest('isQuiet', false);
  app.decorateReply('refusal', null);
  app.decorateReply('ordered');
  app.decorateReply('answered', undefined);
}

/** A field that a request of the service names, if its text is one that a payout could have. */
function namedField(
  { body, query, routeOptions }: FastifyRequest,
  field: keyof InitiateRequest,
): string | undefined {
  const route = routeOptions?.config?.name;
  if (route === undefined) return undefined;
  const fields = (route === 'initiate' ? body : query) as
    Readonly<Record<string, unknown>> | null | undefined;
  const text = fields?.[field];
  return typeof text === 'string' && text.length <= MAX_TEXT_LENGTH ? text : undefined;
}

/** All that is known of an exchange now, as one record: for the journal, the log and the metrics. */
export function exchangeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: ExchangeOutcome = 'pending',
  durationMs?: number,
): Exchange {
  const { arrival, result, warnings, world } = request;
  const { refusal, ordered, answered } = reply;
  const route = request.routeOptions?.config?.name;
  const answer = result?.answer;
  const payout = answer?.kind === 'payout' && result?.balances !== null ? answer.payout : undefined;
  return {
    nth: arrival?.place.nth ?? 0,
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
    balanceBeforePaise: result?.balances?.beforePaise,
    balancePaise: result?.balances?.afterPaise,
    code: ordered?.code ?? refusal?.code,
    clientRefId: payout?.clientRefId ?? namedField(request, 'client_ref_id'),
    txnId: payout?.txnId,
    account: result !== null && route === 'initiate' ? namedField(request, 'beneficiary_account') : undefined,
    replayed: answer?.kind === 'payout' && answer.replayed ? true : undefined,
    warnings,
    limit: refusal?.details.limit,
    rule: result?.effect?.rule ?? refusal?.details.rule,
    committed: result?.effect && route === 'initiate' ? result.committed : undefined,
    delayMs: ordered?.delayMs,
    fault: ordered?.fault,
  };
}

/** Takes a request into the journal of its world. */
export function journalRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  world: WorldHandle,
  wallMs: number,
): void {
  let headersLength = 0;
  for (const text of request.raw.rawHeaders) headersLength += text.length;
  const { nowMs: atMs } = world;
  const headers = withoutKeys(request.headers);
  request.world = world;
  const blank = { place: { nth: 0, update: () => undefined }, atMs, wallMs, headers };
  request.arrival = blank;
  request.arrival = { ...blank, place: world.journal.begin(exchangeOf(request, reply), headersLength) };
}

/** Puts what is known of an exchange now into the journal. */
export function updateJournal(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
  return request.arrival?.place.update(exchangeOf(request, reply));
}

/** Notes an answer before its first byte leaves: so that a client which has the answer finds it in the journal. */
export function noteAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answered,
): void | Promise<void> {
  reply.answered = answer;
  return updateJournal(request, reply);
}
