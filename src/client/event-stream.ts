import type { ChangeAnswer, JournalEntry, MoneyAnswer } from '../contract/control-answers.ts';
import type { ControlClient } from './control-client.ts';

interface EventData {
  /** A request that ended, or that begins to wait. */
  readonly request: JournalEntry;
  /** A step of a payout that was applied. */
  readonly settlement: ChangeAnswer;
  /** Money that was credited or debited by hand. */
  readonly wallet: MoneyAnswer;
  readonly clock: { readonly now: string; readonly frozen: boolean };
  /** A change of the scenario, or of the rules on top. */
  readonly scenario: { readonly scenario: string; readonly rule?: string };
  /** A rule that was applied to a request. */
  readonly rule: { readonly rule: string; readonly matched: number; readonly taken: number };
  readonly reset: { readonly now: string };
  readonly restore: { readonly now: string };
  /** How many events were dropped before this one; null when the number is unknown. */
  readonly missed: { readonly missed: number | null };
}

/** Something that happened in a world. Pass its `id` as `after` to continue from there. */
export type WorldEvent = {
  [K in keyof EventData]: { readonly id: string; readonly type: K; readonly data: EventData[K] };
}[keyof EventData];

export interface EventsOptions {
  /** Continues after the event with this id. */
  readonly after?: string;
  /** Stops reading. */
  readonly signal?: AbortSignal;
}

/** Parses a frame; undefined for a keep-alive. */
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

/** The chunks of a body. Uses a reader, since Safari has no `for await` over a stream. */
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
 * Reads the events of a world from now on. The connection is open when the promise resolves, so that no later event is
 * missed.
 */
export async function openEvents(
  client: ControlClient,
  { after, signal }: EventsOptions,
): Promise<AsyncGenerator<WorldEvent, void>> {
  const leave = new AbortController();
  const abort = (): void => leave.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  // a signal may outlive many readers, so each removes its listener
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
  // return() does not run the finally block of a generator that has not started, and waits for one that is reading
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
