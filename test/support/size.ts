/** A number of repetitions: the small one in `npm test`, the large one with TESTS=long, as .ci/full sets it. */
export const sized = (short: number, long: number): number =>
  process.env['TESTS'] === 'long' ? long : short;
