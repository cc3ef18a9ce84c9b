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
} from '../../contract/payout.ts';
import type { RouteName } from '../../contract/scenario.ts';
import type { RequestFacts, Rule } from '../../scenario/rule.ts';
import type { Plan } from '../../scenario/plan.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import { checkRailRules } from '../../payout/rails.ts';
import type { World } from '../../log/world.ts';
import { noteAnswer } from '../request-record.ts';
import { tell } from '../sandbox-headers.ts';
import { answerUnderRule } from './apply-effect.ts';
import type { UnreadAnswers } from '../limits/unread-answers.ts';
import { noteReference, refuseUnknownFields } from './body-checks.ts';
import { balanceAnswer, initiateAnswer, statusAnswer } from './payout-answers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The world of the request's key. */
    world: World;
  }
  interface FastifyContextConfig {
    /** The word for a route in the log and in rules. */
    readonly name?: RouteName;
  }
}

interface Options {
  /** Finds the world and the scenario of a request. @throws Refusal UNAUTHORIZED, INVALID_REQUEST */
  readonly admit: (request: FastifyRequest) => void;
  /** Counts a request against the rate limit, and refuses it past that: RATE_LIMITED. */
  readonly limitRate: onRequestHookHandler;
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
}

/** What the dialect does not take is refused, and what it doubts is told. */
function judge(request: FastifyRequest, reply: FastifyReply, body: InitiateRequest): void {
  const { warnings, errors } = checkRailRules(body, request.scenario.dialect.requests);
  if (errors.length > 0) {
    throw new Refusal('INVALID_REQUEST', {
      message: errors.map(({ message }) => message).join('; '),
      errors,
    });
  }
  if (warnings.length === 0) return;
  request.record.warnings = warnings;
  tell(request, reply, 'x-sandbox-warning', warnings.join('; '));
}

const isRuled = (plan: Plan): plan is Plan & { readonly rule: Rule } => plan.rule !== null;

/** The three routes of the payout service. */
export const payoutRoutes: FastifyPluginAsyncZod<Options> = async (app, { admit, limitRate, ...waiting }) => {
  app.decorateRequest('world');
  app.addHook('onRequest', (request, _reply, done) => {
    request.record.route = request.routeOptions.config.name;
    admit(request);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const body = typeof payload === 'string' ? payload : '';
    noteAnswer(request, { status: reply.statusCode, headers: reply.getHeaders(), body });
    waiting.unread.wait(reply.raw, body.length);
    done(null, payload);
  });
  app.addHook('onRequest', limitRate);

  const planOf = (request: FastifyRequest, route: RouteName, fields: RequestFacts['fields']): Plan => {
    const { scenario, headers, world, record } = request;
    const plan = world.plan({ scenario, route, fields, headers });
    record.attempt = plan.attempt;
    return plan;
  };

  app.post(
    '/payout/initiate',
    {
      config: { name: 'initiate' },
      schema: {
        operationId: 'initiatePayout',
        summary: 'Initiate a payout',
        description:
          'Pays an amount in INR from the wallet to a bank account or a UPI ID. Sent again with the same client_ref_id and body, it is answered with the payout that there is, and nothing is debited twice.',
        tag: 'Payouts',
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
      },
      preValidation: [noteReference, refuseUnknownFields],
    },
    async (request, reply) => {
      const { body, record, world, scenario } = request;
      record.account = body.beneficiary_account;
      judge(request, reply, body);
      const plan = planOf(request, 'initiate', body);
      const act = async (): Promise<InitiateAnswer> => {
        const { transaction, replayed } = await world.initiate(body, plan, record);
        record.txnId = transaction.txnId;
        if (replayed) {
          record.replayed = true;
          tell(request, reply, 'idempotent-replayed', 'true');
        }
        return initiateAnswer(transaction, scenario.dialect);
      };
      if (!isRuled(plan)) return act();
      const pretend = (): InitiateAnswer => initiateAnswer(world.imagine(body, plan), scenario.dialect);
      return answerUnderRule(plan, { act, pretend }, request, reply, waiting);
    },
  );

  app.get(
    '/client/fetchbalance',
    {
      config: { name: 'balance' },
      schema: {
        operationId: 'fetchBalance',
        summary: 'Fetch the wallet balance',
        tag: 'Payouts',
        requestHeaders: ScenarioHeader,
        errors: ['INVALID_REQUEST', 'RATE_LIMITED'],
        response: { 200: BalanceAnswer },
      },
    },
    async (request, reply) => {
      const { record, world, scenario } = request;
      const plan = planOf(request, 'balance', {});
      const act = async (): Promise<BalanceAnswer> =>
        balanceAnswer(await world.balance(record), scenario.dialect);
      return isRuled(plan) ? answerUnderRule(plan, { act, pretend: null }, request, reply, waiting) : act();
    },
  );

  app.get(
    '/payout/status',
    {
      config: { name: 'status' },
      schema: {
        operationId: 'getPayoutStatus',
        summary: 'Fetch the status of a payout',
        description: 'By client_ref_id or by txn_id. With both, they must name the same payout.',
        tag: 'Payouts',
        requestHeaders: ScenarioHeader,
        errors: ['TRANSACTION_NOT_FOUND', 'TRANSACTION_UNKNOWN', 'RATE_LIMITED'],
        querystring: StatusQuery,
        response: { 200: StatusAnswer },
      },
    },
    async (request, reply) => {
      const { query, record, world, scenario } = request;
      if (query.client_ref_id !== undefined) record.clientRefId = query.client_ref_id;
      const plan = planOf(request, 'status', query);
      const act = async (): Promise<StatusAnswer> => {
        const transaction = await world.status(query, plan, record);
        record.clientRefId = transaction.clientRefId;
        record.txnId = transaction.txnId;
        return statusAnswer(transaction, scenario.dialect);
      };
      return isRuled(plan) ? answerUnderRule(plan, { act, pretend: null }, request, reply, waiting) : act();
    },
  );
};
