import type { z } from 'zod';
import { RequestsQuery, VerifyRequest } from '../../contract/control.ts';
import { ClearedAnswer, RequestsAnswer, VerifyAnswer } from '../../contract/control-answers.ts';
import type { FieldError } from '../../contract/errors.ts';
import { pathText } from '../../contract/shape-issues.ts';
import { type Exchange, journalEntry, seenStatus } from '../../world/journal/exchange.ts';
import { journalText } from '../../world/journal/journal-text.ts';
import { verify } from '../../world/journal/verification.ts';
import { keepingVerdict } from '../referee/evidence.ts';
import { invalidRequest, operation } from '../route-schemas.ts';
import type { ControlRoutes } from './control-options.ts';
import { JSON_TYPE } from '../limits/json-body.ts';
import { sendInPieces } from '../limits/unread-answers.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';

/** About how many characters of a list of requests are written at once. */
const PIECE_CHARACTERS = 64 * 1024;

const ENTRY_CHARACTERS = 1000; // in addition to its texts

const charactersOf = ({ url, body = '', answer }: Exchange): number =>
  ENTRY_CHARACTERS + url.length + body.length + (answer?.body.length ?? 0);

/** Joins short texts to pieces. */
function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** A list of requests as JSON. */
function* requestTexts(shown: readonly Exchange[], evicted: number): Generator<string> {
  yield '{"requests":[';
  for (const [index, exchange] of shown.entries()) {
    yield (index === 0 ? '' : ',') + JSON.stringify(journalEntry(exchange));
  }
  yield `],"evicted":${evicted}}`;
}

/** Whether a list shows an exchange. */
const isWanted =
  ({ route, status, client_ref_id, txn_id, since }: z.output<typeof RequestsQuery>) =>
  (exchange: Exchange): boolean =>
    (route === undefined || exchange.route === route) &&
    (status === undefined || seenStatus(exchange) === status) &&
    (client_ref_id === undefined || exchange.clientRefId === client_ref_id) &&
    (txn_id === undefined || exchange.txnId === txn_id) &&
    (since === undefined || (typeof since === 'number' ? exchange.nth > since : exchange.atMs >= since.atMs));

/** The journal: the requests to a world, its answers, and what decided them. */
export const journalRoutes: ControlRoutes = async (app, options) => {
  app.get(
    '/requests',
    operation('Journal', 'listRequests', 'The requests to this world', RequestsAnswer, {
      querystring: RequestsQuery,
    }),
    async ({ query, world: { journal } }, reply) => {
      const { order, limit, format } = query;
      const { exchanges, evicted } = await journal.read();
      const wanted = exchanges.filter(isWanted(query));
      const isOldest = order === 'oldest';
      const chosen = isOldest ? wanted.slice(0, limit) : wanted.slice(-limit);
      const characters = chosen.reduce((sum, exchange) => sum + charactersOf(exchange), 0);
      if (format === 'text') {
        const which = isOldest ? 'first' : 'latest';
        const pieces = inPieces(journalText(chosen, wanted.length, which));
        return sendInPieces(reply.type(TEXT_TYPE), pieces, characters, options) as never;
      }
      const shown = isOldest ? chosen : chosen.toReversed();
      if (characters < PIECE_CHARACTERS) return { requests: shown.map(journalEntry), evicted };
      // generated as it is read: a list that nobody reads only keeps its entries alive
      const pieces = inPieces(requestTexts(shown, evicted));
      return sendInPieces(reply.type(JSON_TYPE), pieces, characters, options) as never;
    },
  );

  app.delete(
    '/requests',
    operation('Journal', 'clearRequests', 'Clear the journal', ClearedAnswer),
    ({ world }) =>
      keepingVerdict(world, options, false, async () => ({ cleared: await world.journal.clear() })),
  );

  app.post(
    '/requests/verify',
    operation('Journal', 'verifyRequests', 'Check the requests to this world', VerifyAnswer, {
      description: 'Counts requests that match, or looks for a sequence of them; shows the closest misses.',
      body: VerifyRequest,
    }),
    async ({ body, world: { journal } }) => {
      const errors: FieldError[] = [];
      const { exchanges, evicted } = await journal.read();
      const answer = verify(exchanges, evicted, body, (path, message) => {
        const field = pathText(path);
        errors.push({ field, message: `${field} ${message}` });
      });
      if (errors.length > 0) throw invalidRequest(errors);
      return answer;
    },
  );
};
