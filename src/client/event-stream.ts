import { createParser } from 'eventsource-parser';
import type {
  ChangeResponse,
  JournalEntry,
  MoneyResponse,
  TransactionResponse,
  WorldSums,
  HeldRequestResponse,
} from '../contract/control-responses.ts';
import { LONGEST_MIB, type ControlClient, type HttpResponse } from './control-client.ts';

interface EventData {
  /** A request that ended, or that began to wait, and the payout that it is about as it then was; null for none. */
  readonly request: JournalEntry & { readonly transaction: TransactionResponse | null };
  /** A step of a payout that was applied, and the payout as it then was. */
  readonly settlement: ChangeResponse & { readonly transaction: TransactionResponse };
  /** Money that was credited or debited by hand. */
  readonly wallet: MoneyResponse;
  /** A change of the payouts that were made although no response has told the client so: how many, and INR. */
  readonly at_risk: { readonly count: number; readonly amount: number };
  readonly clock: { readonly now: string; readonly frozen: boolean; readonly speed: number };
  /** A change of the scenario, or of the overrides. */
  readonly scenario: { readonly scenario: string; readonly rule?: string };
  /** A rule that was applied to a request. */
  readonly rule: { readonly rule: string; readonly matched: number; readonly taken: number };
  /** A request that waits to be released. */
  readonly held: HeldRequestResponse;
  /** A request that no longer waits. */
  readonly released: { readonly id: number; readonly how: 'released' | 'expired' | 'left' };
  /** Requests that are no longer in the journal: it was cleared, or the sandbox needed their memory. */
  readonly journal: { readonly removed: number; readonly as: 'cleared' | 'evicted' };
  readonly reset: { readonly now: string };
  /** A snapshot replaced the world, or an undo did: then with the action that was taken back. */
  readonly restore: { readonly now: string; readonly undone?: string };
  /** How many events were dropped before this one; null when the number is unknown. */
  readonly missed: { readonly missed: number | null };
}

/** What each event has besides: the sums of the world right after it. */
type Summed<K extends keyof EventData> = K extends 'missed' ? object : { readonly sums: WorldSums };

/** Something that happened in a world. Pass its `id` as `after` to continue from there. */
export type WorldEvent = {
  [K in keyof EventData]: { readonly id: string; readonly type: K; readonly data: EventData[K] & Summed<K> };
}[keyof EventData];

export interface EventsOptions {
  /** Continues after the event with this id. */
  readonly after?: string;
  /** Stops reading. */
  readonly signal?: AbortSignal;
}

/** The events of a world as they come. Leaving the loop over them stops reading. */
export interface WorldEvents extends AsyncGenerator<WorldEvent, void> {
  /** The id to continue after if the connection breaks before the first event. */
  readonly from: string | undefined;
}

/** Reads the events of a world from now on. The connection is open when the promise resolves: no later event is missed. */
export async function openEvents(
  client: Pick<ControlClient, 'open'>,
  { after, signal }: EventsOptions,
): Promise<WorldEvents> {
  const response = await client.open('GET', '/events', {
    headers: after === undefined ? {} : { 'last-event-id': after },
    ...(signal !== undefined && { signal }),
  });
  let isLeft = false;
  const events = readEvents(response, () => isLeft || signal?.aborted === true);
  const end = events.return.bind(events);
  // return() does not run the finally block of a generator that has not started, and waits for one that is reading
  return Object.assign(events, {
    from: response.headers.get('last-event-id') ?? after,
    return(): ReturnType<typeof end> {
      isLeft = true;
      response.cancel();
      return end();
    },
  });
}

async function* readEvents({ body }: HttpResponse, isLeft: () => boolean): AsyncGenerator<WorldEvent, void> {
  const events: WorldEvent[] = [];
  const parser = createParser({
    maxBufferSize: LONGEST_MIB * 1024 * 1024,
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded')
        throw new Error(`an event of more than ${LONGEST_MIB} MiB cannot come from a sandbox`);
    },
    onEvent: ({ id, event, data }) =>
      void events.push({ id, type: event, data: JSON.parse(data) } as WorldEvent),
  });
  const decoder = new TextDecoder();
  try {
    for await (const piece of body) {
      parser.feed(decoder.decode(piece, { stream: true }));
      yield* events.splice(0);
    }
  } catch (error) {
    if (!isLeft()) throw error;
  }
}
