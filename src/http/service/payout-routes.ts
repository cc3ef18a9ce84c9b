import type { FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Dialect } from '../../contract/dialect.ts';
import { Refusal } from '../../contract/errors.ts';
import { fieldErrors, fieldMessage } from '../../contract/shape-issues.ts';
import type { RouteName } from '../../contract/match.ts';
import {
  BalanceAnswer,
  InitiateAnswer,
  InitiateRequest,
  ScenarioHeader,
  StatusAnswer,
  StatusQuery,
} from '../../contract/service.ts';
import type { Payout } from '../../contract/snapshot-lines.ts';
import { invariant, toInr } from '../../payout/money.ts';
import { checkRailRules } from '../../payout/rails.ts';
import type { TemplateValues } from '../../scenario/template.ts';
import type { RequestCommand } from '../../world/request/request-commands.ts';
import type { Answer, RequestResult, SeenEffect } from '../../world/request/request-result.ts';
import { admission, type AdmissionOptions } from '../admission.ts';
import { setSandboxHeader } from '../exchange-record.ts';
import { rateLimiter } from '../limits/rate-limit.ts';
import type { Waiting } from '../limits/unread-answers.ts';
import { invalidRequest, operation } from '../route-schemas.ts';
import { applyEffect } from './apply-effect.ts';
import { untilReleased } from './held-request.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The word for a route in the log and in rules. */
    readonly name?: RouteName;
  }
}

/** In a dialect that refuses unknown fields, refuses them together with all other errors of the body. */
const refuseUnknownFields: preValidationHookHandler = ({ body, dialect }, _reply, done) => {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (dialect.requests.unknown_fields === 'ignore' || !isObject) return done();
  const unknown = Object.keys(body).filter((field) => !Object.hasOwn(InitiateRequest.shape, field));
  if (unknown.length === 0) return done();
  const known = InitiateRequest.safeParse(body, { error: fieldMessage });
  const errors = [
    ...(known.success ? [] : fieldErrors(known.error, 'body')),
    ...unknown.map((field) => ({ field, message: `${field} is not a field of the interface` })),
  ];
  throw invalidRequest(errors);
};

/** Checks the rules of banks and transfer modes: refuses what breaks those that the dialect enforces, and warns about the rest. */
function checkRails(body: InitiateRequest, reply: FastifyReply): void {
  const { request } = reply;
  const { warnings, errors } = checkRailRules(body, request.dialect.requests);
  if (errors.length > 0) throw invalidRequest(errors);
  if (warnings.length === 0) return;
  request.warnings = warnings;
  setSandboxHeader(reply, 'x-sandbox-warning', warnings.join('; '));
}

function payoutOf(answer: Answer): Payout {
  invariant(answer.kind === 'payout', 'an initiate and a status are answered with a payout');
  return answer.payout;
}

/** ISO 8601 in UTC, with milliseconds or whole seconds. */
function timestamp(atMs: number, { answers }: Dialect): string {
  const text = new Date(atMs).toISOString();
  return answers.timestamps === 'seconds' ? text.replace(/\.\d+/, '') : text;
}

/** What initiate and status both answer. */
const inBoth = (payout: Payout) => ({
  txn_id: payout.txnId,
  client_ref_id: payout.clientRefId,
  status: payout.state,
  amount: toInr(payout.amountPaise),
  utr: payout.utr,
});

function initiateAnswer(answer: Answer, dialect: Dialect): InitiateAnswer {
  const payout = payoutOf(answer);
  const data = { ...inBoth(payout), created_at: timestamp(payout.createdAtMs, dialect) };
  return { status: 'success', message: 'Payout initiated successfully', data };
}

function balanceAnswer(answer: Answer, dialect: Dialect): BalanceAnswer {
  invariant(answer.kind === 'balance', 'a balance is answered with a balance');
  const { balancePaise, lastUpdatedMs } = answer;
  return {
    status: 'success',
    data: { balance: toInr(balancePaise), currency: 'INR', last_updated: timestamp(lastUpdatedMs, dialect) },
  };
}

function statusAnswer(answer: Answer, dialect: Dialect): StatusAnswer {
  const payout = payoutOf(answer);
  const { beneficiaryName, beneficiaryAccount, createdAtMs, completedAtMs } = payout;
  const whilePending = dialect.status.completed_at_while_pending === 'absent' ? undefined : null;
  return {
    status: 'success',
    data: {
      ...inBoth(payout),
      beneficiary_name: beneficiaryName,
      beneficiary_account: beneficiaryAccount,
      created_at: timestamp(createdAtMs, dialect),
      completed_at: completedAtMs === null ? whilePending : timestamp(completedAtMs, dialect),
    },
  };
}

/** What an answer of a rule can name of its request, and of the payout that it made or found. */
function templateValues({ request }: FastifyReply, { nowMs }: SeenEffect, answer: Answer): TemplateValues {
  const { body, query, id, dialect, result, routeOptions } = request;
  const fields = routeOptions.config.name === 'status' ? query : body;
  return {
    ...(fields as TemplateValues | undefined),
    ...(answer.kind === 'payout' && inBoth(answer.payout)),
    attempt: result!.attempt === 0 ? null : result!.attempt, // 0 where attempts are not counted
    now: timestamp(nowMs, dialect),
    request_id: id,
  };
}

/** The parts of a request that every command of the service carries. */
const asked = ({ arrival, chosenScenario }: FastifyRequest) => ({
  headers: arrival!.headers as RequestCommand['headers'],
  scenario: chosenScenario?.source ?? null,
});

function setResult(request: FastifyRequest, result: RequestResult): void {
  request.result = result;
  request.dialect = result.dialect;
}

/** The three routes of the payout service. */
export const payoutRoutes: FastifyPluginAsyncZod<AdmissionOptions & Waiting> = async (app, options) => {
  // the server's limit protects the server, so it applies before the body is read; that of a scenario is counted by its world
  const limiter = await rateLimiter(app, options.log.maxWorlds, options.limitStore);
  app.addHook('onRequest', admission(options, limiter));

  /**
   * Submits a request to its world, and answers with the result: normally, or as a rule orders.
   *
   * @throws Refusal as the world refused it
   */
  async function respond<Body extends object>(
    command: RequestCommand,
    bodyOf: (answer: Answer, dialect: Dialect) => Body,
    reply: FastifyReply,
  ): Promise<Body> {
    const { request } = reply;
    const first: RequestResult = await request.world.submit(command);
    const { hold } = first;
    setResult(request, first);
    const result =
      hold === undefined ? first : await untilReleased({ ...first, hold }, reply, options.wallClock);
    if (result === null) return reply.hijack() as never; // the client has left
    setResult(request, result);
    const { answer, effect, dialect } = result;
    const normalBody = (): Body => {
      if (answer.kind === 'payout' && answer.replayed) setSandboxHeader(reply, 'idempotent-replayed', 'true');
      return bodyOf(answer, dialect);
    };
    if (effect !== null) {
      const values = (): TemplateValues => templateValues(reply, effect, answer);
      return applyEffect({ effect, answer, normalBody, values }, reply, options) as Promise<never>;
    }
    if (answer.kind === 'refused') throw new Refusal(answer.refusal.code, answer.refusal.details);
    return normalBody();
  }

  app.post(
    '/payout/initiate',
    {
      config: { name: 'initiate' },
      ...operation('Payouts', 'initiatePayout', 'Initiate a payout', InitiateAnswer, {
        description:
          'Pays an amount in INR from the wallet to a bank account or a UPI ID. Sent again with the same client_ref_id and body, it returns the existing payout, and nothing is debited twice.',
        requestHeaders: ScenarioHeader,
        responseHeaders: ['Idempotent-Replayed', 'X-Sandbox-Warning'],
        errors: [
          'DUPLICATE_REFERENCE',
          'INSUFFICIENT_BALANCE',
          'REFERENCE_CONFLICT',
          'RATE_LIMITED',
          'SANDBOX_FULL',
          'NOT_RELEASED',
          'STORE_UNAVAILABLE',
        ],
        body: InitiateRequest,
      }),
      preValidation: [refuseUnknownFields],
    },
    (request, reply) => {
      const { body } = request;
      checkRails(body, reply);
      return respond({ kind: 'initiate', body, ...asked(request) }, initiateAnswer, reply);
    },
  );

  app.get(
    '/client/fetchbalance',
    {
      config: { name: 'balance' },
      ...operation('Payouts', 'fetchBalance', 'Fetch the wallet balance', BalanceAnswer, {
        requestHeaders: ScenarioHeader,
        errors: ['INVALID_REQUEST', 'RATE_LIMITED'],
      }),
    },
    (request, reply) => respond({ kind: 'balance', ...asked(request) }, balanceAnswer, reply),
  );

  app.get(
    '/payout/status',
    {
      config: { name: 'status' },
      ...operation('Payouts', 'getPayoutStatus', 'Fetch the status of a payout', StatusAnswer, {
        description: 'By client_ref_id or by txn_id. With both, they must name the same payout.',
        requestHeaders: ScenarioHeader,
        errors: ['TRANSACTION_NOT_FOUND', 'TRANSACTION_UNKNOWN', 'RATE_LIMITED'],
        querystring: StatusQuery,
      }),
    },
    (request, reply) =>
      respond({ kind: 'status', query: request.query, ...asked(request) }, statusAnswer, reply),
  );
};
