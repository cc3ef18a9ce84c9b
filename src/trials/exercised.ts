import type { JournalEntry } from '../contract/control-responses.ts';
import type { Evidence } from '../referee/case.ts';

/** Whether a run met what its dialect or scenario changes: whether its client saw a response that it never sees otherwise. */

/** Fields whose values say what became of a request. */
const TELLING: ReadonlySet<string> = new Set(['status', 'code', 'transfer_mode']);

/** A timestamp in whole seconds, as some dialects send it. */
const WHOLE_SECONDS = /T\d\d:\d\d:\d\dZ$/;

/** A body without what differs between any two runs: of each other field, only whether it is there and its type. */
const shapeOf = (body: unknown): string =>
  JSON.stringify(body, (name, value: unknown) =>
    (typeof value === 'object' && value !== null) || TELLING.has(name)
      ? value
      : value === null
        ? null
        : typeof value === 'string' && WHOLE_SECONDS.test(value)
          ? 'seconds'
          : typeof value,
  );

type Fields = Readonly<Record<string, unknown>>;

const dataOf = (body: unknown): Fields => ((body as Fields | null)?.['data'] as Fields | null) ?? {};

/** What the client saw of one response, in a form that is the same in each run. */
function responseKey(entry: JournalEntry): string {
  const { route, answer, outcome, fault, delay_ms, committed, replayed } = entry;
  return JSON.stringify([
    route,
    outcome,
    fault,
    delay_ms !== null,
    committed,
    replayed,
    answer?.status ?? null,
    Object.keys(answer?.headers ?? {}).toSorted(),
    shapeOf(answer?.body ?? null),
  ]);
}

/** The responses of a world, in order. A balance before the first payout shows its number: it says whether the wallet is another one. */
function* keyed({ requests }: Evidence): Generator<readonly [key: string, entry: JournalEntry]> {
  let isFull = true;
  for (const entry of requests.toSorted((a, b) => a.id - b.id)) {
    const { route, answer, committed } = entry;
    const opening = isFull && route === 'balance' ? dataOf(answer?.body)['balance'] : undefined;
    yield [`${responseKey(entry)} ${String(opening)}`, entry];
    if (committed === true) isFull = false;
  }
}

/** The responses of some runs. */
export const responsesIn = (worlds: readonly Evidence[]): ReadonlySet<string> =>
  new Set(worlds.flatMap((evidence) => [...keyed(evidence)].map(([key]) => key)));

/** The payouts that fail or are reversed in the end: whoever saw them only before that has not met it. */
const failingIn = ({ ledger }: Evidence): ReadonlySet<string> =>
  new Set(
    ledger?.payouts
      .filter(({ timeline }) => timeline.some(({ to }) => to === 'FAILED' || to === 'REVERSED'))
      .map(({ txn_id }) => txn_id),
  );

function isBeforeTheEnd({ txn_id, answer, rule }: JournalEntry, failing: ReadonlySet<string>): boolean {
  const { status } = dataOf(answer?.body);
  return (
    txn_id !== null && failing.has(txn_id) && rule === null && (status === 'PENDING' || status === 'SUCCESS')
  );
}

/** How many requests had a response that is not among the known ones, and shows more than a payout that has yet to fail. */
export const newResponses = (worlds: readonly Evidence[], known: ReadonlySet<string>): number =>
  worlds.flatMap((evidence) => {
    const failing = failingIn(evidence);
    return [...keyed(evidence)].filter(([key, entry]) => !known.has(key) && !isBeforeTheEnd(entry, failing));
  }).length;
