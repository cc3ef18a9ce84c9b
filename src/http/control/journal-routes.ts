import type { z } from 'zod';
import { RequestsQuery, VerifyRequest } from '../../contract/control.ts';
import type { JournalEntry } from '../../contract/control-responses.ts';
import { type FieldError, invalidRequest } from '../../contract/errors.ts';
import type { Path } from '../../contract/shape-issues.ts';
import type { KeptRequest } from '../../world/journal/kept-request.ts';
import { journalEntry, seenStatus } from '../../world/journal/journal-entry.ts';
import { journalText } from '../../world/journal/journal-text.ts';
import { verify } from '../../world/journal/verification.ts';
import type { WorldState } from '../../world/state-shape.ts';
import { inWords, operation, type ControlRoutes } from '../routes.ts';
import { JSON_TYPE } from '../../contract/service.ts';
import { listText } from '../limits/heavy-work.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';

function* entriesOf(shown: readonly KeptRequest[]): Generator<JournalEntry> {
  for (const exchange of shown) yield journalEntry(exchange);
}

function* jsonOf(items: Iterable<object>): Generator<string> {
  for (const item of items) yield JSON.stringify(item);
}

const isWanted =
  ({ route, status, client_ref_id, txn_id, since }: z.output<typeof RequestsQuery>) =>
  (exchange: KeptRequest): boolean =>
    (route === undefined || exchange.route === route) &&
    (status === undefined || seenStatus(exchange) === status) &&
    (client_ref_id === undefined || exchange.clientRefId === client_ref_id) &&
    (txn_id === undefined || exchange.txnId === txn_id) &&
    (since === undefined || (typeof since === 'number' ? exchange.nth > since : exchange.atMs >= since.atMs));

const requestsOf = ({ requests: { list, evicted } }: Readonly<WorldState>) => ({
  list: list.slice(),
  evicted,
});

/** The journal: the requests to a world, its responses, and what decided them. */
export const journalRoutes: ControlRoutes = async (app, { heavy }) => {
  app.get(
    '/requests',
    operation('Journal', 'listRequests', 'The requests to this world', {
      querystring: RequestsQuery,
    }),
    async ({ query, exchange: { world } }, reply) => {
      const { order, limit, format } = query;
      const isText = format === 'text';
      return heavy.send(reply.type(isText ? TEXT_TYPE : JSON_TYPE), async () => {
        const { list, evicted } = await world.read(requestsOf);
        const wanted = list.filter(isWanted(query));
        const isOldest = order === 'oldest';
        const chosen = isOldest ? wanted.slice(0, limit) : wanted.slice(-limit);
        const shown = isOldest || isText ? chosen : chosen.toReversed();
        // made as they are read: a list that nobody reads only keeps its requests alive
        const entries = entriesOf(shown);
        const left_out = list.length - chosen.length;
        if (isText) return journalText(entries, { evicted, left_out });
        return listText({ requests: [], evicted, left_out }, jsonOf(entries));
      });
    },
  );

  app.delete(
    '/requests',
    operation('Journal', 'clearRequests', 'Clear the journal'),
    async ({ exchange: { world } }) => ({
      cleared: await world.submit({ kind: 'forget', as: 'cleared' }),
    }),
  );

  app.post(
    '/requests/verify',
    operation('Journal', 'verifyRequests', 'Check the requests to this world', {
      description: 'Counts requests that match, or looks for a sequence of them; shows the closest misses.',
      body: VerifyRequest,
    }),
    async ({ body, exchange: { world } }) => {
      const errors: FieldError[] = [];
      const report = (path: Path, message: string): void => void errors.push(inWords(path, message));
      const answer = await heavy.run(async () => {
        const { list, evicted } = await world.read(requestsOf);
        return verify(list, evicted, body, report);
      });
      if (errors.length > 0) throw invalidRequest(errors);
      return answer;
    },
  );
};
