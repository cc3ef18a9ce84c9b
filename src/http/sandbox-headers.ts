import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Scenario } from '../scenario/scenario.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The scenario that holds for this request. */
    scenario: Scenario;
  }
}

type SandboxHeader =
  'idempotent-replayed' | 'x-sandbox-limit' | 'x-sandbox-request-id' | 'x-sandbox-rule' | 'x-sandbox-warning';

/** Sends a header that the real service would not send, unless the dialect keeps silent. */
export function tell(request: FastifyRequest, reply: FastifyReply, name: SandboxHeader, value: string): void {
  if (request.scenario.dialect.answers.sandbox_headers === 'sent') void reply.header(name, value);
}

/** Says the id of a request in a header, so that its log line can be found. */
export const sayId = (request: FastifyRequest, reply: FastifyReply): void =>
  tell(request, reply, 'x-sandbox-request-id', request.id);

/**
 * Gives every request a scenario, also those that no world answers. Its id is said later, by a hook here or with the
 * refusal: by then it may have chosen another scenario, in whose dialect it is answered.
 */
export function sayScenario(app: FastifyInstance, scenarioOf: (request: FastifyRequest) => Scenario): void {
  app.decorateRequest('scenario');
  app.addHook('onRequest', (request, _reply, done) => {
    request.scenario = scenarioOf(request);
    done();
  });
  app.addHook('preHandler', (request, reply, done) => {
    sayId(request, reply);
    done();
  });
}
