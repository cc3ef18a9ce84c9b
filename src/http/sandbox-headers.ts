import type { FastifyReply, FastifyRequest } from 'fastify';

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
