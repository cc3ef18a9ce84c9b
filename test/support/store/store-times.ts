import { STORE_TIMES } from '../../../src/store/store-times.ts';
import { isLong } from '../size.ts';

const PATIENT_MS = 20_000;
const IMPATIENT_MS = 50;
let isPatient = true;
let answerWithin = PATIENT_MS;

/**
 * Servers in this process wait for a response of their store longer than a busy machine stands still, and do sooner what they do
 * again and again.
 */
const inUse = { ...STORE_TIMES };
const PATIENT = {
  get answerWithin() {
    return isPatient || !isLong ? answerWithin : inUse.answerWithin;
  },
  end: 15_000, // so that no call of it is among those that a test counts
  heartbeat: 100,
  listen: 20,
  heartbeatWhileAway: 25,
};
export const makePatient = (): unknown =>
  Object.defineProperties(STORE_TIMES, Object.getOwnPropertyDescriptors(PATIENT));

/**
 * Does something while they wait hardly at all, since their store does not answer: in the long form, as long as in use.
 *
 * @param answers whether their store does answer, if only that it is not there: they wait for that, however busy the machine is
 */
export async function withoutPatience<T>(work: () => Promise<T>, { answers = false } = {}): Promise<T> {
  isPatient = false;
  answerWithin = answers ? PATIENT_MS : IMPATIENT_MS;
  try {
    return await work();
  } finally {
    isPatient = true;
    answerWithin = PATIENT_MS;
  }
}
