import { inject } from 'vitest';

/** Whether all is tested that takes long, as .ci/full does by setting TESTS=long, or what `npm test` has time for. */
export const isLong = process.env['TESTS'] === 'long';

/** A number of repetitions: the small one in `npm test`, the large one with TESTS=long. */
export const sized = (short: number, long: number): number => (isLong ? long : short);

declare module 'vitest' {
  interface ProvidedContext {
    isStored?: boolean;
  }
}

/** Whether worlds are in a store that several servers may share. */
export const isStored = inject('isStored') === true;
