import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/** What a request turned out to be, gathered on its way and written as one log line. */
export interface RequestRecord {
  worldId?: string;
  route?: string | undefined;
  code?: string;
  clientRefId?: string;
  txnId?: string;
  account?: string;
  replayed?: boolean;
  warnings?: readonly string[];
  /** The setting whose limit made the answer up. */
  limit?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    record: RequestRecord;
  }
}

/** The last four characters of an account; nothing of one that has no more than that. */
export const maskAccount = (account: string): string =>
  account.length <= 4 ? '*'.repeat(account.length) : '*'.repeat(account.length - 4) + account.slice(-4);

const LONGEST_PATH = 128;

/** The path without its query, which may hold anything. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;

function line(request: FastifyRequest, reply: FastifyReply): object {
  const { record } = request;
  return {
    world: record.worldId?.slice(0, 8),
    request_id: request.id,
    method: request.method,
    route: record.route,
    path: record.route === undefined ? pathOf(request).slice(0, LONGEST_PATH) : undefined,
    status: reply.statusCode,
    duration_ms: Math.round(reply.elapsedTime * 100) / 100,
    code: record.code,
    client_ref_id: record.clientRefId,
    txn_id: record.txnId,
    beneficiary_account: record.account === undefined ? undefined : maskAccount(record.account),
    replayed: record.replayed,
    warnings: record.warnings?.length ? record.warnings : undefined,
    limit: record.limit,
  };
}

/** One log line a request, whatever became of it; and its id in a header, so that the line can be found. */
export function recordRequests(app: FastifyInstance, log: Logger): void {
  app.decorateRequest('record');
  app.addHook('onRequest', (request, reply, done) => {
    request.record = {};
    void reply.header('x-sandbox-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    log.info(line(request, reply), 'request');
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    log.info(
      { ...request.record, worldId: undefined, request_id: request.id },
      'client gone before the answer',
    );
    done();
  });
}
