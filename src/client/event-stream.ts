import type { ChangeAnswer, JournalEntry, MoneyAnswer } from '../contract/control-answers.ts';
import type { ControlClient } from './control-client.ts';

interface EventData {
  /** A request that was answered, broken or left, or that begins to wait. */
  readonly request: JournalEntry;
  /** A step of a payout that has happened. */
  readonly settlement: ChangeAnswer;
  /** Money that was put in or taken out. */
  readonly wallet: MoneyAnswer;
  readonly clock: { readonly now: string; readonly frozen: boolean };
  /** Another scenario, or another rule on top. */
  readonly scenario: { readonly scenario: string; readonly rule?: string };
  /** A rule that was taken for a request. */
  readonly rule: { readonly rule: string; readonly matched: number; readonly taken: number };
  readonly reset: { readonly now: string };
  readonly restore: { readonly now: string };
  /** So many events are not known any more; null when nobody knows how many. */
  readonly missed: { readonly missed: number | null };
}

/** Something that happened in a world. `id` is what `after` takes, to read on from there. */
export type WorldEvent = {
  [K in keyof EventData]: { readonly id: string; readonly type: K; readonly data: EventData[K] };
}[keyof EventData];

export interface EventsOptions {
  /** Reads on after the event of this id. */
  readonly after?: string;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** One event of a stream; undefined for what only keeps it alive. */
function eventOf(frame: string): WorldEvent | undefined {
  const fields = new Map(
    frame.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  const [id, type, data] = [fields.get('id'), fields.get('event'), fields.get('data')];
  if (id === undefined || type === undefined || data === undefined) return undefined;
  return { id, type, data: JSON.parse(data) } as WorldEvent;
}

/** The chunks of a body, read as every browser can: Safari has no `for await` over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunksOf(body)) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop()!;
    yield* frames;
  }
}

/**
 * What happens in a world from now on, as it happens. The connection is open before the first event is asked for, so
 * that nothing that is done meanwhile is missed.
 */
export async function openEvents(
  client: ControlClient,
  { after, signal }: EventsOptions,
): Promise<AsyncGenerator<WorldEvent, void>> {
  const leave = new AbortController();
  const abort = (): void => leave.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  // a signal may outlive many readings: each takes its listener away again
  leave.signal.addEventListener('abort', () => signal?.removeEventListener('abort', abort), { once: true });
  const response = await client
    .open('GET', '/events', {
      headers: after === undefined ? {} : { 'last-event-id': after },
      signal: leave.signal,
    })
    .catch((error: unknown) => {
      abort();
      throw error;
    });
  const events = readEvents(response, leave);
  const end = events.return.bind(events);
  // a generator that was not begun, or that waits, would not hear of its end
  return Object.assign(events, {
    return(): ReturnType<typeof end> {
      leave.abort();
      return end();
    },
  });
}

async function* readEvents(response: Response, leave: AbortController): AsyncGenerator<WorldEvent, void> {
  try {
    for await (const frame of framesOf(response.body!)) {
      const event = eventOf(frame);
      if (event !== undefined) yield event;
    }
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  } finally {
    leave.abort();
  }
}
