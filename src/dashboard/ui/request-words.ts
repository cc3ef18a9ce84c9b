import type { JournalEntry } from '../../contract/control-responses.ts';

const FIRST_REFUSAL = 400;

/** The status that the client got; 0 if it got none. */
export const statusOf = ({ outcome, answer }: JournalEntry): number =>
  outcome === 'answered' ? (answer?.status ?? 0) : 0;

/** Whether the client saw anything but a success. */
export const wentWrong = (entry: JournalEntry): boolean =>
  statusOf(entry) === 0 || statusOf(entry) >= FIRST_REFUSAL;

/** What each fault sends of a response; the others send nothing. */
const SENT: Readonly<Record<string, string>> = {
  'truncated-body': 'half of the response',
  'malformed-json': 'invalid JSON',
  garbage: 'bytes that are not HTTP',
  'slow-body': 'at most a part of the response',
};

/** What the client got of a response that did not reach it whole. */
export const receivedText = ({ fault, answer }: JournalEntry): string =>
  fault === null && answer !== null ? 'at most a part of the response' : (SENT[fault ?? ''] ?? 'nothing');

/** `#7 initiate` */
export const askedText = ({ id, route, request }: JournalEntry): string =>
  `#${id} ${route ?? `${request.method} ${request.path}`}`;

/** What the client got: the status, or what happened to the connection. */
export function seenText({ outcome, answer, fault }: JournalEntry): string {
  if (outcome === 'answered') return String(answer?.status ?? '');
  if (outcome === 'fault') return fault === 'hang' ? 'timed out' : (fault ?? 'cut off');
  return outcome === 'pending' ? 'no response yet' : 'client left';
}
