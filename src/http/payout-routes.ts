import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import {
  BalanceAnswer,
  InitiateAnswer,
  InitiateRequest,
  MAX_TEXT_LENGTH,
  StatusAnswer,
  StatusQuery,
} from '../contract/payout.ts';
import type { World } from '../domain/world.ts';
import { balanceAnswer, initiateAnswer, statusAnswer } from './wire.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The world of the request's key. */
    world: World;
  }
  interface FastifyContextConfig {
    /** The word for a route in the log, and later in rules. */
    readonly name?: string;
  }
}

interface Options {
  /** The world of an Authorization header. @throws Refusal UNAUTHORIZED */
  readonly worldOf: (authorization: string | undefined) => World;
  /** True when initiates are rate limited. */
  readonly rateLimited: boolean;
}

/** The methods of each route, for the answers to other paths and other methods. */
export const PAYOUT_ROUTES = {
  '/payout/initiate': 'POST',
  '/client/fetchbalance': 'GET',
  '/payout/status': 'GET',
} as const;

function referenceIn(body: unknown): string | undefined {
  const reference = (body as { client_ref_id?: unknown } | null | undefined)?.client_ref_id;
  return typeof reference === 'string' && reference.length <= MAX_TEXT_LENGTH ? reference : undefined;
}

/** The three routes of the payout service. */
export const payoutRoutes: FastifyPluginAsyncZod<Options> = async (app, { worldOf, rateLimited }) => {
  app.decorateRequest('world');
  app.addHook('onRequest', (request, _reply, done) => {
    request.record.route = request.routeOptions.config.name;
    request.world = worldOf(request.headers.authorization);
    request.record.worldId = request.world.id;
    done();
  });

  app.post(
    '/payout/initiate',
    {
      config: { name: 'initiate', rateLimit: rateLimited ? {} : false },
      schema: { body: InitiateRequest, response: { 200: InitiateAnswer } },
      preValidation: ({ body, record }, _reply, done) => {
        const reference = referenceIn(body); // so that the line of a request that is refused names it too
        if (reference !== undefined) record.clientRefId = reference;
        done();
      },
    },
    async (request, reply) => {
      const { body, record, world } = request;
      record.account = body.beneficiary_account;
      const { transaction, replayed, warnings } = await world.initiate(body);
      record.txnId = transaction.txnId;
      if (replayed) {
        record.replayed = true;
        void reply.header('idempotent-replayed', 'true');
      }
      if (warnings.length > 0) {
        record.warnings = warnings;
        void reply.header('x-sandbox-warning', warnings.join('; '));
      }
      return initiateAnswer(transaction);
    },
  );

  app.get(
    '/client/fetchbalance',
    { config: { name: 'balance' }, schema: { response: { 200: BalanceAnswer } } },
    async ({ world }) => balanceAnswer(await world.balance()),
  );

  app.get(
    '/payout/status',
    { config: { name: 'status' }, schema: { querystring: StatusQuery, response: { 200: StatusAnswer } } },
    async ({ query, record, world }) => {
      if (query.client_ref_id !== undefined) record.clientRefId = query.client_ref_id;
      const transaction = await world.status(query);
      record.clientRefId = transaction.clientRefId;
      record.txnId = transaction.txnId;
      return statusAnswer(transaction);
    },
  );
};
