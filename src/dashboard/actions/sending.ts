import { SOME_PAYOUT, type PayoutInput, type World } from '../../client/controlled-world.ts';
import type { JournalEntry } from '../../contract/control-responses.ts';
import type { InitiateRequest, TransferMode } from '../../contract/service.ts';
import { duration } from '../ui/formats.ts';

/** The same as in the contract, repeated here because importing it would bundle zod into the page. */
export const MODES = ['IMPS', 'NEFT', 'RTGS', 'UPI'] as const satisfies readonly TransferMode[];

/** A payout that every scenario without rules accepts. */
export const SAMPLE_PAYOUT: InitiateRequest = { client_ref_id: 'order-1', ...SOME_PAYOUT, amount: 1500.5 };

/** A reference that this browser has not used before. */
export const freshReference = (): string => `try-${Date.now().toString(36)}`;

/** Marks the requests of this page, which are not those of the client that is tested. */
const MARK = 'x-sandbox-dashboard';

/** Whether this page sent a request. */
export const isFromPage = ({ request }: JournalEntry): boolean => Object.hasOwn(request.headers, MARK);

/** The response to the page's own payout. */
export interface Outcome {
  readonly title: string;
  readonly isGood: boolean;
  readonly headers: readonly string[];
  readonly body: unknown;
}

const isShown = (name: string): boolean =>
  name.startsWith('x-sandbox-') || name === 'retry-after' || name === 'idempotent-replayed';

/** Sends a payout like any other client, with a mark. */
export async function pay(world: World, payout: PayoutInput, signal: AbortSignal): Promise<Outcome> {
  const startMs = performance.now();
  const took = (): string => duration(performance.now() - startMs);
  try {
    const { status, headers, body } = await world.pay(payout, { signal, headers: { [MARK]: 'pay' } });
    return {
      title: `${status} after ${took()}`,
      isGood: status < 300,
      headers: [...headers].filter(([name]) => isShown(name)).map(([name, value]) => `${name}: ${value}`),
      body,
    };
  } catch {
    const title = signal.aborted
      ? `No response: stopped waiting after ${took()}`
      : `The connection broke after ${took()}`;
    const body = 'The client cannot know whether the money moved. “Requests” shows it.';
    return { title, isGood: false, headers: [], body };
  }
}
