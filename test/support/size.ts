import { inject } from 'vitest';

/** Whether all is tested that takes long, as .ci/full does by setting TESTS=long, or what `npm test` has time for. */
export const isLong = process.env['TESTS'] === 'long';

/** A number of repetitions: the small one in `npm test`, the large one with TESTS=long. */
export const sized = (short: number, long: number): number => (isLong ? long : short);

/** For a test that runs many commands or draws many cases: on two busy cores, it needs more than the five seconds of the others. */
export const SLOW = { timeout: isLong ? 300_000 : 60_000 };

declare module 'vitest' {
  interface ProvidedContext {
    isStored?: boolean;
  }
}

/** Whether worlds are in a store that several servers may share. */
export const isStored = inject('isStored') === true;
