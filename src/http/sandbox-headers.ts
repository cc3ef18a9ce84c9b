import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Dialect } from '../contract/dialect.ts';
import type { Scenario } from '../scenario/scenario.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The scenario that holds for this request, as it was when the request came. */
    scenario: Scenario;
    /** The words of its answer. */
    dialect: Dialect;
  }
}

type SandboxHeader =
  'idempotent-replayed' | 'x-sandbox-limit' | 'x-sandbox-request-id' | 'x-sandbox-rule' | 'x-sandbox-warning';

/** Sends a header that the real service would not send, unless the dialect leaves such headers out. */
export function setSandboxHeader(
  request: FastifyRequest,
  reply: FastifyReply,
  name: SandboxHeader,
  value: string,
): void {
  if (request.dialect.answers.sandbox_headers === 'sent') void reply.header(name, value);
}

/** Sends the id of a request, by which its log line can be found. */
export const setRequestId = (request: FastifyRequest, reply: FastifyReply): void =>
  setSandboxHeader(request, reply, 'x-sandbox-request-id', request.id);

/**
 * Gives every request a scenario, also those that no world answers. Its id is sent later, by a hook here or with the
 * refusal: by then it may have chosen another scenario, in whose dialect it is answered.
 */
export function setScenario(app: FastifyInstance, scenarioOf: (request: FastifyRequest) => Scenario): void {
  app.decorateRequest('scenario');
  app.decorateRequest('dialect');
  app.decorateRequest('chosenScenario', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.scenario = scenarioOf(request);
    request.dialect = request.scenario.dialect;
    done();
  });
  app.addHook('preHandler', (request, reply, done) => {
    setRequestId(request, reply);
    done();
  });
}
