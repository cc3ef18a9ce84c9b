import type { JournalEntry } from '../contract/control-responses.ts';
import type { Evidence } from '../referee/case.ts';

/** Whether a run met what its dialect or scenario changes: whether its client saw a response that it never sees otherwise. */

/** Fields whose values the client chose, so that they may differ from run to run. */
const ECHOED = new Set(['client_ref_id', 'beneficiary_name', 'beneficiary_account', 'remarks']);

/** A value without what differs between any two runs: numbers, ids, times, and what the client chose. */
function shapeOf(value: unknown, ids: readonly string[]): unknown {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') {
    const text = ids.reduce((rest, id) => rest.replaceAll(id, 'ID'), value);
    return text.replaceAll(/\d+/g, '9');
  }
  if (Array.isArray(value)) return value.map((item) => shapeOf(item, ids));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      ECHOED.has(name) && item !== null ? typeof item : shapeOf(item, ids),
    ]),
  );
}

/** What the client saw of one response, in a form that is the same in each run. */
function responseKey(entry: JournalEntry): string {
  const { route, answer, outcome, fault, delay_ms, committed, replayed, client_ref_id, txn_id } = entry;
  const ids = [client_ref_id, txn_id].filter((id) => id !== null && id !== '') as string[];
  return JSON.stringify([
    route,
    outcome,
    fault,
    delay_ms !== null,
    committed,
    replayed,
    answer?.status ?? null,
    Object.keys(answer?.headers ?? {}).toSorted(),
    shapeOf(answer?.body ?? null, ids),
  ]);
}

/** The responses of some runs. */
export const responsesIn = (worlds: readonly Evidence[]): ReadonlySet<string> =>
  new Set(worlds.flatMap(({ requests }) => requests.map(responseKey)));

/** How many requests had a response that is not among the known ones. */
export const newResponses = (worlds: readonly Evidence[], known: ReadonlySet<string>): number =>
  worlds.flatMap(({ requests }) => requests).filter((entry) => !known.has(responseKey(entry))).length;
