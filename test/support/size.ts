/** How often to repeat something: `short` in `npm test`, `long` with TESTS=long, which .ci/full sets. */
export const sized = (short: number, long: number): number =>
  process.env['TESTS'] === 'long' ? long : short;
