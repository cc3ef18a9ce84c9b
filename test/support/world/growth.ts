/** How many times as large the larger work is: sixteen times the processor time when it is linear, 256 times when quadratic. */
const TIMES = 16;
const ROUNDS = 3;

/** Between linear and quadratic, and so far from both that no busy machine makes one look like the other. */
export const LINEAR = 100;

/**
 * How many times as long work takes when it is sixteen times as large, in processor time: the quickest of some rounds.
 * The larger work is repeated only while its growth does not look linear.
 */
export async function growth(size: number, work: (size: number) => unknown): Promise<number> {
  const timeOf = async (ofSize: number): Promise<number> => {
    const before = process.cpuUsage();
    await work(ofSize);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await work(size); // compiles the code
  let [small, large] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round += 1) small = Math.min(small, await timeOf(size));
  for (let round = 0; round < ROUNDS && large / small >= LINEAR; round += 1)
    large = Math.min(large, await timeOf(size * TIMES));
  return large / small;
}
