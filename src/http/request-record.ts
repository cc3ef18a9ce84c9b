import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/** What a request turned out to be, gathered on its way and written as one log line. */
interface RequestRecord {
  worldId?: string;
  route?: string | undefined;
  code?: string | undefined;
  clientRefId?: string;
  txnId?: string;
  account?: string;
  replayed?: boolean;
  warnings?: readonly string[];
  /** The setting whose limit made the answer up. */
  limit?: string;
  /** `scenario/rule`, when a rule made the answer. */
  rule?: string;
  /** Whether the payout happened, for a request that met a rule. */
  committed?: boolean;
  delayMs?: number;
  fault?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    record: RequestRecord;
  }
}

/** The last four characters of an account; nothing of one that has no more than that. */
const maskAccount = (account: string): string =>
  account.length <= 4 ? '*'.repeat(account.length) : '*'.repeat(account.length - 4) + account.slice(-4);

/** What an account looks like, in a path where none belongs. */
const ACCOUNT_LIKE = /\d{9,}/g;

/** Without what looks like a key: people put them where they do not belong. */
const masked = (text: string): string => text.replace(/sk_[\w-]+/g, 'sk_***');

const LONGEST_PATH = 128;

/** The path without its query, which may hold anything. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;

function line(request: FastifyRequest, reply: FastifyReply, durationMs: number): object {
  const { record } = request;
  const isAnswered = reply.raw.writableFinished;
  return {
    world: record.worldId?.slice(0, 8),
    request_id: request.id,
    method: request.method,
    route: record.route,
    path:
      record.route === undefined
        ? masked(pathOf(request).slice(0, LONGEST_PATH)).replace(ACCOUNT_LIKE, maskAccount)
        : undefined,
    status: reply.raw.headersSent ? reply.raw.statusCode : undefined,
    duration_ms: Math.round(durationMs * 100) / 100,
    code: record.code,
    client_ref_id: record.clientRefId === undefined ? undefined : masked(record.clientRefId),
    txn_id: record.txnId,
    beneficiary_account: record.account === undefined ? undefined : maskAccount(record.account),
    replayed: record.replayed,
    warnings: record.warnings?.length ? record.warnings : undefined,
    limit: record.limit,
    rule: record.rule,
    committed: record.committed,
    delay_ms: record.delayMs,
    fault: record.fault,
    client_gone: !isAnswered && record.fault === undefined ? true : undefined,
  };
}

const EXCHANGES = Symbol('the exchanges of a connection that are not over');

/**
 * The exchanges of a connection that are not over, as functions that end them. A connection that breaks ends them all:
 * the answers that wait behind another one on it never hear of it otherwise.
 */
function openExchanges(socket: Socket & { [EXCHANGES]?: Set<() => void> }): Set<() => void> {
  const known = socket[EXCHANGES];
  if (known !== undefined) return known;
  const open = new Set<() => void>();
  socket[EXCHANGES] = open;
  socket.once('close', () => open.forEach((over) => over()));
  return open;
}

/** Writes the log line of each request once its exchange is over, whatever became of it. */
export type Recorder = (request: FastifyRequest, reply: FastifyReply) => void;

/** Makes a recorder. @param stopwatchMs measures how long an exchange took */
export const requestRecorder =
  (log: Logger, stopwatchMs: () => number): Recorder =>
  (request, reply) => {
    const startMs = stopwatchMs();
    request.record = {};
    const open = openExchanges(request.raw.socket);
    const over = (): void => {
      if (open.delete(over)) log.info(line(request, reply, stopwatchMs() - startMs), 'request');
    };
    open.add(over);
    reply.raw.once('close', over);
  };

/** One log line a request. */
export function recordRequests(app: FastifyInstance, record: Recorder): void {
  app.decorateRequest('record');
  app.addHook('onRequest', (request, reply, done) => {
    record(request, reply);
    done();
  });
}
