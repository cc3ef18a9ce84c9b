import { z } from 'zod';
import { JournalEntry } from '../contract/control-responses.ts';
import { isTooNested, MAX_NESTING } from '../contract/service.ts';
import { UsageError } from '../contract/usage-error.ts';
import type { Evidence } from './case.ts';
import { harEntries } from './har.ts';

/** Traffic that was saved: the journal of a sandbox, or a HAR from a browser or a proxy. */

const Saved = z.preprocess(
  (document) => (Array.isArray(document) ? { requests: document } : document),
  z.object({
    requests: z.array(z.unknown()),
    evicted: z.int().default(0),
    left_out: z.int().default(0), // older versions did not say
  }),
);

/** A journal as older versions saved it. */
const OldEntry = JournalEntry.extend({
  ended_after: z.int().nullable().default(null),
  planned_by: z.string().nullable().default(null),
});

function entriesIn(document: unknown): Pick<Evidence, 'requests' | 'evicted' | 'leftOut' | 'others'> {
  const har = harEntries(document);
  if (har !== null) return { ...har, evicted: 0 };
  const saved = Saved.safeParse(document);
  if (!saved.success) {
    throw new UsageError('it is neither a journal ({"requests":[…]}) nor a HAR ({"log":{"entries":[…]}})');
  }
  const entries = z.array(OldEntry).safeParse(saved.data.requests);
  if (entries.success) {
    const { evicted, left_out } = saved.data;
    return { requests: entries.data, evicted, leftOut: left_out };
  }
  const [{ path, message }] = entries.error.issues as [z.core.$ZodIssue];
  throw new UsageError(`requests.${path.join('.')} is not valid in a journal: ${message}`);
}

/** Reads saved traffic as evidence, which has no ledger. @throws UsageError */
export function savedTraffic(text: string): Evidence {
  let document: unknown;
  if (isTooNested(text, 2 * MAX_NESTING)) throw new UsageError('it is nested too deep'); // bodies are nested in it
  try {
    document = JSON.parse(text.replace(/^\ufeff/, '')); // a byte order mark, as editors on Windows write it
  } catch {
    throw new UsageError('it is not JSON');
  }
  return { ...entriesIn(document), ledger: null, wall_now: null, clientEnded: true };
}
