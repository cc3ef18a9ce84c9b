import type { JournalEntry } from '../contract/control-responses.ts';
import type { RuleRequest } from '../contract/control.ts';

/** A rule with a name, as in a scenario. */
export type NamedRule = RuleRequest & { readonly name: string };

type Effect = RuleRequest['effect'];
type Respond = Exclude<NonNullable<Effect['respond']>, number>;

/** The faults after which the client has nothing of a response, not even a status. */
const WITHOUT_ANSWER = new Set(['connection-reset', 'empty-response', 'garbage', 'hang']);

/** The headers of a response that a client acts on. The sandbox writes most others itself. */
const REPEATED_HEADER = /^(?:retry-after|idempotent-replayed|(?:x-)?ratelimit-.*)$/;
const PRINTABLE = /^[\t\x20-\x7e]*$/;

type Named = Pick<NonNullable<RuleRequest['match']>, 'client_ref_id' | 'txn_id'>;

/** How a request names its payout: by its reference, or by the txn_id of a status read; not at all for a balance. */
function namedBy({ route, client_ref_id: reference, request }: JournalEntry): Named {
  if (route === 'initiate') return reference === null ? {} : { client_ref_id: reference };
  const query = new URL(request.path, 'http://sandbox').searchParams;
  const named = ['client_ref_id', 'txn_id'].find((field) => query.has(field));
  return named === undefined ? {} : { [named]: query.get(named) };
}

/** A match for its route, its reference or txn_id, and its attempt, which is counted here if the sandbox did not count it. */
function matchOf(entry: JournalEntry, entries: readonly JournalEntry[]): NonNullable<RuleRequest['match']> {
  const { id, route } = entry;
  const named = namedBy(entry);
  const { client_ref_id: reference, txn_id: txnId } = named;
  const isSame = (one: JournalEntry): boolean => {
    const other = namedBy(one);
    return one.route === route && other.client_ref_id === reference && other.txn_id === txnId;
  };
  const earlier = entries.filter((one) => one.id < id && isSame(one)).length;
  return { route: route!, ...named, attempt: entry.attempt ?? earlier + 1 };
}

function respondOf({ status, headers, body }: NonNullable<JournalEntry['answer']>): Respond {
  const isJson = typeof body === 'object' && body !== null;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const repeated = Object.entries(headers).flatMap(([name, value]) => {
    const isRepeated = REPEATED_HEADER.test(name) || (name === 'content-type' && !isJson);
    return isRepeated && PRINTABLE.test(String(value)) ? [[name, String(value)] as const] : [];
  });
  return {
    status,
    ...(repeated.length > 0 && { headers: Object.fromEntries(repeated) }),
    body: isJson ? (body as Exclude<Respond['body'], undefined>) : body === null ? '' : text,
  };
}

function effectOf({ route, answer, fault, committed, delay_ms: delayMs }: JournalEntry): Effect {
  const isLost = answer === null || (fault !== null && WITHOUT_ANSWER.has(fault));
  const broken = fault ?? (isLost ? 'hang' : null);
  // a request of which nobody knows may have made the payout, which is the case that a client must survive
  return {
    ...(route === 'initiate' && { commit: committed ?? true }),
    ...(delayMs !== null && { delay: `${Math.ceil(delayMs)}ms` }),
    ...(!isLost && { respond: respondOf(answer) }),
    ...(broken !== null && { fault: broken as Extract<Effect['fault'], string> }),
  };
}

/** A rule that matches a request when it is sent again, and repeats what the client got. @param request its number, or its request id */
export function repeatingRule(
  entries: readonly JournalEntry[],
  request: number | string,
  fail: (reason: string) => Error,
): NamedRule {
  const wanted = String(request).replace(/^#/, '');
  const entry = entries.find(
    ({ id, request_id: requestId }) => String(id) === wanted || requestId === wanted,
  );
  if (entry === undefined) {
    const [first, last] = [entries.at(0), entries.at(-1)];
    const there = first === undefined ? 'which is empty' : `which has #${first.id} to #${last!.id}`;
    throw fail(`request ${wanted} is not in the journal, ${there}`);
  }
  const { id, route } = entry;
  const line = `${entry.request.method} ${entry.request.path.split('?', 1)[0]}`;
  if (route === null) throw fail(`request #${id} (${line}) is not a request of the payout service`);
  return {
    name: `request-${id}`,
    description: `Repeats what request #${id} got: ${line}`,
    match: matchOf(entry, entries),
    effect: effectOf(entry),
  };
}
