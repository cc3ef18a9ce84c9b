import type {
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  preValidationHookHandler,
} from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import {
  BalanceAnswer,
  InitiateAnswer,
  InitiateRequest,
  ScenarioHeader,
  StatusAnswer,
  StatusQuery,
} from '../../contract/service.ts';
import { fieldErrors } from '../../contract/field-errors.ts';
import type { RouteName } from '../../contract/scenario-document.ts';
import { checkRailRules } from '../../payout/rails.ts';
import { noteAnswer } from '../exchange-record.ts';
import type { Waiting } from '../limits/long-answer.ts';
import { operation } from '../operation.ts';
import { setSandboxHeader } from '../sandbox-headers.ts';
import { invalidRequest } from '../schemas.ts';
import { respond } from './apply-effect.ts';
import { balanceAnswer, initiateAnswer, statusAnswer } from './payout-answers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The word for a route in the log and in rules. */
    readonly name?: RouteName;
  }
}

interface Options extends Waiting {
  /** Finds the world and the scenario of a request. @throws Refusal UNAUTHORIZED, INVALID_REQUEST */
  readonly admit: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Counts a request against the rate limit, and refuses it past that: RATE_LIMITED. */
  readonly limitRate: onRequestAsyncHookHandler;
}

/** Refuses fields that the interface does not have, with all else that is wrong, in a dialect that wants it so. */
const refuseUnknownFields: preValidationHookHandler = ({ body, dialect }, _reply, done) => {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (dialect.requests.unknown_fields === 'ignore' || !isObject) return done();
  const unknown = Object.keys(body).filter((field) => !Object.hasOwn(InitiateRequest.shape, field));
  if (unknown.length === 0) return done();
  const known = InitiateRequest.safeParse(body);
  const errors = [
    ...(known.success ? [] : fieldErrors(known.error, body, 'body')),
    ...unknown.map((field) => ({ field, message: `${field} is not a field of the interface` })),
  ];
  throw invalidRequest(errors);
};

/** Refuses what the dialect does not take of a bank's own rules, and warns of what it does. */
function checkRails(request: FastifyRequest, reply: FastifyReply, body: InitiateRequest): void {
  const { warnings, errors } = checkRailRules(body, request.dialect.requests);
  if (errors.length > 0) throw invalidRequest(errors);
  if (warnings.length === 0) return;
  request.warnings = warnings;
  setSandboxHeader(request, reply, 'x-sandbox-warning', warnings.join('; '));
}

/** What every command of the service takes along of its request. */
const asked = ({ arrival, chosenScenario }: FastifyRequest) => ({
  headers: arrival!.headers as Record<string, string | string[] | undefined>,
  scenario: chosenScenario?.source ?? null,
});

/** The three routes of the payout service. */
export const payoutRoutes: FastifyPluginAsyncZod<Options> = async (app, { admit, limitRate, ...waiting }) => {
  app.addHook('onRequest', (request, reply, done) => {
    admit(request, reply);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const body = typeof payload === 'string' ? payload : '';
    noteAnswer(request, reply, { status: reply.statusCode, headers: reply.getHeaders(), body });
    waiting.unread.wait(reply.raw, body.length);
    done(null, payload);
  });
  app.addHook('onRequest', limitRate);

  app.post(
    '/payout/initiate',
    {
      config: { name: 'initiate' },
      ...operation('Payouts', 'initiatePayout', 'Initiate a payout', {
        description:
          'Pays an amount in INR from the wallet to a bank account or a UPI ID. Sent again with the same client_ref_id and body, it is answered with the payout that there is, and nothing is debited twice.',
        requestHeaders: ScenarioHeader,
        responseHeaders: ['Idempotent-Replayed', 'X-Sandbox-Warning'],
        errors: [
          'DUPLICATE_REFERENCE',
          'INSUFFICIENT_BALANCE',
          'REFERENCE_CONFLICT',
          'RATE_LIMITED',
          'SANDBOX_FULL',
        ],
        body: InitiateRequest,
        response: { 200: InitiateAnswer },
      }),
      preValidation: [refuseUnknownFields],
    },
    async (request, reply) => {
      const { body, world } = request;
      checkRails(request, reply, body);
      const result = await world.submit({ kind: 'initiate', body, ...asked(request) });
      return respond(result, initiateAnswer, request, reply, waiting) as Promise<InitiateAnswer>;
    },
  );

  app.get(
    '/client/fetchbalance',
    {
      config: { name: 'balance' },
      ...operation('Payouts', 'fetchBalance', 'Fetch the wallet balance', {
        requestHeaders: ScenarioHeader,
        errors: ['INVALID_REQUEST', 'RATE_LIMITED'],
        response: { 200: BalanceAnswer },
      }),
    },
    async (request, reply) => {
      const result = await request.world.submit({ kind: 'balance', ...asked(request) });
      return respond(result, balanceAnswer, request, reply, waiting) as Promise<BalanceAnswer>;
    },
  );

  app.get(
    '/payout/status',
    {
      config: { name: 'status' },
      ...operation('Payouts', 'getPayoutStatus', 'Fetch the status of a payout', {
        description: 'By client_ref_id or by txn_id. With both, they must name the same payout.',
        requestHeaders: ScenarioHeader,
        errors: ['TRANSACTION_NOT_FOUND', 'TRANSACTION_UNKNOWN', 'RATE_LIMITED'],
        querystring: StatusQuery,
        response: { 200: StatusAnswer },
      }),
    },
    async (request, reply) => {
      const { query, world } = request;
      const result = await world.submit({ kind: 'status', query, ...asked(request) });
      return respond(result, statusAnswer, request, reply, waiting) as Promise<StatusAnswer>;
    },
  );
};
