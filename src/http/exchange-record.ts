import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dialect } from '../contract/dialect.ts';
import type { RefusalData } from '../contract/errors.ts';
import { MAX_TEXT_LENGTH, type InitiateRequest } from '../contract/service.ts';
import type { WorldHandle } from '../log/world-log.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { withoutKeys } from '../world/journal/exchange-facts.ts';
import type { Answered, Exchange, ExchangeOutcome } from '../world/journal/exchange.ts';
import type { JournalPlace } from '../world/journal/journal.ts';
import type { RequestResult } from '../world/requests.ts';

/** The facts of an exchange. Each is set once, where it arises, and is absent before. */
declare module 'fastify' {
  interface FastifyRequest {
    /** The scenario that holds for this request, as it was when the request came. */
    scenario: Scenario;
    /** The scenario that it chose by a header; else that of its world holds. */
    chosenScenario?: Scenario;
    /** How its answer is written. */
    dialect: Dialect;
    /** The world of the request's key; undefined before it is known, and for requests of no world. */
    world: WorldHandle;
    /** Set when a request of the service is admitted to its world. Times are world time and wall time. */
    arrival?: Pick<Exchange, 'atMs' | 'wallMs' | 'headers'>;
    journalPlace?: JournalPlace;
    /** The body as it came; set by the parser of JSON bodies. */
    bodyText?: string;
    /** Why a bank might refuse the payout; set by the initiate route. */
    warnings?: readonly string[];
    /** What the world made of the request; set by the routes of the service. */
    result?: RequestResult;
    /** True for what only a debug log shows. */
    isQuiet?: boolean;
  }
  interface FastifyReply {
    /** Why the request was refused; set with the answer that says so. */
    refusal?: RefusalData;
    /** What a rule orders beside the text of the answer; set before the answer leaves. */
    ordered?: Partial<Pick<Exchange, 'code' | 'fault' | 'delayMs'>>;
    /** What was answered, or would have been but for a fault; set before its first byte leaves. */
    answered?: Answered;
  }
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
    balanceBeforePaise: result?.balances?.beforePaise,
    balancePaise: result?.balances?.afterPaise,
    code: ordered?.code ?? refusal?.code,
    clientRefId: payout?.clientRefId ?? namedField(request, 'client_ref_id'),
    txnId: payout?.txnId,
    account:
      result !== undefined && route === 'initiate' ? namedField(request, 'beneficiary_account') : undefined,
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
  request.world = world;
  request.arrival = { atMs: world.nowMs, wallMs, headers: withoutKeys(request.headers) };
  request.journalPlace = world.journal.begin(exchangeOf(request, reply), headersLength);
}

export function updateJournal(request: FastifyRequest, reply: FastifyReply): void {
  request.journalPlace?.update(exchangeOf(request, reply));
}

/** Notes an answer before its first byte leaves: so that a client which has the answer finds it in the journal. */
export function noteAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answered): void {
  reply.answered = answer;
  updateJournal(request, reply);
}
