import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { RequestsQuery, VerifyRequest } from '../contract/control.ts';
import { ClearedAnswer, RequestsAnswer, VerifyAnswer } from '../contract/control-answers.ts';
import type { FieldError } from '../contract/errors.ts';
import { pathText } from '../contract/shape-issues.ts';
import type { Exchange } from '../domain/exchange.ts';
import { journalEntry } from '../domain/journal-entry.ts';
import type { PatternOf } from '../domain/rule-compiler.ts';
import { seenStatus, verify } from '../domain/verification.ts';
import { wrongRequest } from './checked-request.ts';

interface Options {
  readonly patternOf: PatternOf;
}

const USUAL_LIMIT = 100;

/** Whether a list shows an exchange. */
const isWanted =
  ({ route, status, client_ref_id, txn_id, since }: z.output<typeof RequestsQuery>) =>
  (exchange: Exchange): boolean =>
    (route === undefined || exchange.route === route) &&
    (status === undefined || seenStatus(exchange) === status) &&
    (client_ref_id === undefined || exchange.clientRefId === client_ref_id) &&
    (txn_id === undefined || exchange.txnId === txn_id) &&
    (since === undefined || (typeof since === 'number' ? exchange.nth > since : exchange.atMs >= since.atMs));

/** The journal: what a world was asked, what it answered and why. */
export const journalRoutes: FastifyPluginAsyncZod<Options> = async (app, { patternOf }) => {
  app.get(
    '/requests',
    {
      schema: {
        operationId: 'listRequests',
        summary: 'What the world was asked',
        tag: 'Journal',
        querystring: RequestsQuery,
        response: { 200: RequestsAnswer },
      },
    },
    ({ query, world: { journal } }) => {
      const { order, limit = USUAL_LIMIT } = query;
      const wanted = journal.exchanges.filter(isWanted(query));
      const shown = order === 'oldest' ? wanted.slice(0, limit) : wanted.slice(-limit).toReversed();
      return { requests: shown.map(journalEntry), evicted: journal.evicted };
    },
  );

  app.delete(
    '/requests',
    {
      schema: {
        operationId: 'clearRequests',
        summary: 'Forget what it was asked',
        tag: 'Journal',
        response: { 200: ClearedAnswer },
      },
    },
    ({ world: { journal } }) => ({ cleared: journal.clear() }),
  );

  app.post(
    '/requests/verify',
    {
      schema: {
        operationId: 'verifyRequests',
        summary: 'Check what it was asked',
        tag: 'Journal',
        description: 'Counts requests that match, or looks for a sequence of them; shows the closest misses.',
        body: VerifyRequest,
        response: { 200: VerifyAnswer },
      },
    },
    ({ body, world: { journal } }) => {
      const errors: FieldError[] = [];
      const answer = verify(journal.exchanges, journal.evicted, body, patternOf, (path, message) => {
        const field = pathText(path);
        errors.push({ field, message: `${field} ${message}` });
      });
      if (errors.length > 0) throw wrongRequest(errors);
      return answer;
    },
  );
};
