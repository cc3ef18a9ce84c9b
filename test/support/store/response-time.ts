import type * as AnswerTime from '../../../src/log/valkey/response-time.ts';

const PATIENT_MS = 20_000;
let isPatient = true;

/** How long servers in this process wait for a response of their store: longer than a busy machine stands still. */
export const patient = ({ ANSWER_WITHIN_MS }: typeof AnswerTime): typeof AnswerTime => ({
  get ANSWER_WITHIN_MS() {
    return (isPatient ? PATIENT_MS : ANSWER_WITHIN_MS) as typeof ANSWER_WITHIN_MS;
  },
});

/** Does something while they wait no longer than in use, since their store does not answer. */
export async function withoutPatience<T>(work: () => Promise<T>): Promise<T> {
  isPatient = false;
  try {
    return await work();
  } finally {
    isPatient = true;
  }
}
