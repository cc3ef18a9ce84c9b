import type { RateLimit } from '../../contract/snapshot.ts';
import type { FastifyReply, FastifySchemaCompiler, preValidationHookHandler } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { fieldError, invalidRequest } from '../../contract/errors.ts';
import type { RouteName } from '../../contract/match.ts';
import {
  checkRailRules,
  hasInexactAmount,
  InitiateRequest,
  TOO_MANY_DECIMALS,
} from '../../contract/service.ts';
import { fieldErrors, pathText, reported } from '../../contract/shape-issues.ts';
import { textProblems } from '../../scenario/pattern.ts';
import type { RequestCommand } from '../../world/request/request-commands.ts';
import { responseOf } from '../../world/request/response.ts';
import { admission, limitRate, type AdmissionOptions } from '../admission.ts';
import type { Pressure } from '../limits/pressure.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';
import { busy } from '../refusals.ts';
import { partName } from '../routes.ts';
import { BALANCE, INITIATE, STATUS } from './payout-operations.ts';
import { untilReleased, applyEffect } from './rule-effects.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The word for a route in the log and in rules. */
    readonly name?: RouteName;
  }
}

interface PayoutRoutesOptions extends AdmissionOptions {
  readonly wallClock: WallClock;
  readonly pressure: Pressure;
  /** The server's own limit, which protects it; that of a scenario is counted by its world. */
  readonly rateLimit: RateLimit | 'off';
}

/** Checks a part of a request against its zod schema, and refuses all its fields at fault at once. */
const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (input) => {
    const result = schema.safeParse(input);
    if (result.success) return { value: result.data };
    return { error: invalidRequest(fieldErrors(schema, input, partName(httpPart))) };
  };

/**
 * Refuses what the schema of the body does not see, together with all other errors: an amount with more digits than a number holds
 * and, in a dialect that refuses them, unknown fields.
 */
const refuseUnseen: preValidationHookHandler = ({ body, exchange }, _reply, done) => {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isObject) return done();
  const isKnown = (field: string): boolean =>
    exchange.dialect.requests.unknown_fields === 'ignore' || Object.hasOwn(InitiateRequest.shape, field);
  const unknown = Object.keys(body).filter((field) => !isKnown(field));
  const isInexact = hasInexactAmount(exchange.bodyText!);
  if (unknown.length === 0 && !isInexact) return done();
  const known = fieldErrors(InitiateRequest, body, 'body');
  const hasAmount = known.some(({ field }) => field === 'amount');
  const { shown, more } = reported([
    ...known,
    ...(isInexact && !hasAmount ? [fieldError('amount', TOO_MANY_DECIMALS)] : []),
    ...unknown.map((field) => fieldError(pathText([field]), 'is not a known field')),
  ]);
  throw invalidRequest(shown, more);
};

/** Checks the rules of banks and transfer modes: refuses what breaks those that the dialect enforces, and warns about the rest. */
function checkRails(body: InitiateRequest, { request: { exchange } }: FastifyReply): void {
  const { requests } = exchange.dialect;
  const hasTextRules = requests.client_ref_id !== null || requests.remarks !== null;
  const more = hasTextRules ? textProblems(body, requests) : [];
  const { warnings, errors } = checkRailRules(body, requests, more);
  if (errors.length > 0) throw invalidRequest(errors);
  if (warnings.length > 0) exchange.warnings = warnings;
}

/** The three routes of the payout service. */
export const payoutRoutes: FastifyPluginAsyncZod<PayoutRoutesOptions> = async (app, options) => {
  const { rateLimit, wallClock, pressure } = options;
  app.setValidatorCompiler(validatorCompiler);
  app.addHook('onRequest', admission(options));
  app.addHook('onRequest', (_request, _reply, done) => {
    if (pressure.isHigh) throw busy('SANDBOX_MAX_MEMORY');
    done();
  });
  if (rateLimit !== 'off') await limitRate(app, rateLimit);

  /** Submits a request to its world. @returns its response, or that of a rule, once the time for it has come */
  async function respond(command: RequestCommand, reply: FastifyReply): Promise<string | FastifyReply> {
    const { exchange } = reply.request;
    const first = await exchange.submit(command);
    const decided = first.hold === undefined ? first : await untilReleased(first, reply, wallClock);
    if (decided === null) return reply.hijack(); // the client has left
    exchange.decide(decided);
    const { effect } = decided;
    const { status, headers, body } = responseOf(decided);
    void reply.code(status).headers(headers);
    if (effect !== null) return applyEffect(effect, body, reply, wallClock);
    return body === '' ? reply.send() : body; // a text would have a type
  }

  app.post(
    '/payout/initiate',
    { config: { name: 'initiate' }, ...INITIATE, preValidation: [refuseUnseen] },
    ({ body, exchange }, reply) => {
      checkRails(body, reply);
      return respond({ kind: 'initiate', body, request: exchange.received() }, reply);
    },
  );

  app.get('/client/fetchbalance', { config: { name: 'balance' }, ...BALANCE }, ({ exchange }, reply) =>
    respond({ kind: 'balance', request: exchange.received() }, reply),
  );

  app.get('/payout/status', { config: { name: 'status' }, ...STATUS }, ({ query, exchange }, reply) =>
    respond({ kind: 'status', query, request: exchange.received() }, reply),
  );
};
