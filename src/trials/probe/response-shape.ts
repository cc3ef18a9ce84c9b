import { fieldsOf, isRefused, textIn, type ProbeResponse } from './probe-exchange.ts';
import type { LearnedDialect } from './learned-dialect.ts';

const PROBLEM_TYPE = /^application\/problem\+json/;

/** The choice of `errors.body`, or a description of a body that fits none. */
function errorBody(response: ProbeResponse): string {
  const fields = fieldsOf(response);
  const names = Object.keys(fields);
  if (response.text === '') return 'empty';
  if (PROBLEM_TYPE.test(response.headers['content-type'] ?? '')) return 'problem';
  if (textIn(fields, 'message') === null) return 'another body';
  if (textIn(fields, 'status') !== null) return 'envelope';
  return names.length === 1 ? 'message' : 'another body';
}

/** Whether responses have the headers of a payout sandbox, so that a missing warning is significant. */
export const sendsSandboxHeaders = (learned: LearnedDialect): boolean =>
  learned.valueOf('answers.sandbox_headers') === 'sent';

function learnFromRefusal(response: ProbeResponse, learned: LearnedDialect, evidence: string): void {
  const body = errorBody(response);
  learned.learn('errors.body', body, evidence);
  if (body === 'envelope')
    learned.learn('errors.status_word', textIn(fieldsOf(response), 'status')!, evidence);
  else learned.unknown('errors.status_word', `an error has no field status: ${evidence}`);
  // a sandbox sends the id of the request with each refusal
  const isSent = Object.keys(response.headers).some((name) => name.startsWith('x-sandbox-'));
  learned.learn('answers.sandbox_headers', isSent ? 'sent' : 'not_sent', evidence);
}

const WITH_MILLISECONDS = /T\d\d:\d\d:\d\d\.\d{3}Z$/;
const WITH_SECONDS = /T\d\d:\d\d:\d\dZ$/;

function timestampForm(text: string): string {
  if (WITH_MILLISECONDS.test(text)) return 'milliseconds';
  return WITH_SECONDS.test(text) ? 'seconds' : 'another form';
}

const TIMES = ['last_updated', 'created_at', 'completed_at'];

/** Learns what a response shows about errors, headers and timestamps. */
export function learnShape(response: ProbeResponse, learned: LearnedDialect, evidence: string): void {
  if (response.status === 429) {
    const isSaid = response.headers['retry-after'] !== undefined;
    learned.learn('rate_limit.retry_after', isSaid ? 'seconds' : 'absent', evidence);
  }
  if (isRefused(response)) learnFromRefusal(response, learned, evidence);
  const { data } = fieldsOf(response);
  for (const name of TIMES) {
    const text = textIn((data ?? {}) as Readonly<Record<string, unknown>>, name);
    if (text === null) continue;
    learned.learn('answers.timestamps', timestampForm(text), `${evidence}, ${name} ${text}`);
  }
}

/** Whether the response about a reference that was never used is "not found". */
export const isNotFound = ({ status }: ProbeResponse, learned: LearnedDialect): boolean =>
  status === learned.valueOf('status.unknown');
