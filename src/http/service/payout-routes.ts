import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { Refusal } from '../../contract/errors.ts';
import {
  BalanceAnswer,
  InitiateAnswer,
  InitiateRequest,
  ScenarioHeader,
  StatusAnswer,
  StatusQuery,
} from '../../contract/service.ts';
import type { RouteName } from '../../contract/scenario-document.ts';
import { checkRailRules } from '../../payout/rails.ts';
import { goOn } from '../continuation.ts';
import { noteAnswer } from '../exchange-record.ts';
import { operation } from '../operation.ts';
import { setSandboxHeader } from '../sandbox-headers.ts';
import { respond, type Waiting } from './apply-effect.ts';
import { refuseUnknownFields } from './body-checks.ts';
import { balanceAnswer, initiateAnswer, statusAnswer } from './payout-answers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The word for a route in the log and in rules. */
    readonly name?: RouteName;
  }
}

interface Options extends Waiting {
  /** Finds the world and the scenario of a request. @throws Refusal UNAUTHORIZED, INVALID_REQUEST */
  readonly admit: (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>;
  /** Counts a request against the rate limit, and refuses it past that: RATE_LIMITED. */
  readonly limitRate: onRequestHookHandler;
}

/** Refuses what the dialect does not take of a bank's own rules, and warns of what it does. */
function checkRails(request: FastifyRequest, reply: FastifyReply, body: InitiateRequest): void {
  const { warnings, errors } = checkRailRules(body, request.dialect.requests);
  if (errors.length > 0) {
    const message = errors.map((error) => error.message).join('; ');
    throw new Refusal('INVALID_REQUEST', { message, errors });
  }
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
    goOn(admit(request, reply), () => done(), done);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const body = typeof payload === 'string' ? payload : '';
    const answer = { status: reply.statusCode, headers: reply.getHeaders(), body };
    const send = (): void => {
      waiting.unread.wait(reply.raw, body.length);
      done(null, payload);
    };
    goOn(noteAnswer(request, reply, answer), send, done);
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
          'STORE_UNAVAILABLE',
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
