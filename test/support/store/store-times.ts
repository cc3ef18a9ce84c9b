import type * as StoreTimes from '../../../src/log/store-times.ts';
import { isLong } from '../size.ts';

const PATIENT_MS = 20_000;
const IMPATIENT_MS = 50;
let isPatient = true;

/**
 * Servers in this process wait for a response of their store longer than a busy machine stands still, and do sooner what they do
 * again and again.
 */
export const patient = ({ STORE_TIMES: inUse }: typeof StoreTimes): typeof StoreTimes => ({
  STORE_TIMES: {
    ...inUse,
    get answerWithin() {
      if (isPatient) return PATIENT_MS;
      return isLong ? inUse.answerWithin : IMPATIENT_MS;
    },
    get giveUpAfter() {
      return isPatient || isLong ? inUse.giveUpAfter : IMPATIENT_MS;
    },
    end: 15_000, // so that no call of it is among those that a test counts
    heartbeat: 100,
    exchange: 100,
    heartbeatWhileAway: 25,
    resend: 100,
  },
});

/** Does something while they wait hardly at all, since their store does not answer: in the long form, as long as in use. */
export async function withoutPatience<T>(work: () => Promise<T>): Promise<T> {
  isPatient = false;
  try {
    return await work();
  } finally {
    isPatient = true;
  }
}
