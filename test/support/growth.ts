/** How many times as large the larger work is: sixteen times the processor time when it is linear, 256 times when quadratic. */
const TIMES = 16;
const ROUNDS = 3;

/** Between linear and quadratic, and so far from both that no busy machine makes one look like the other. */
export const LINEAR = 100;

/** How many times as long work takes when it is sixteen times as large: the quickest of some rounds, in processor time. */
export async function growth(size: number, work: (size: number) => unknown): Promise<number> {
  const quickest = async (ofSize: number): Promise<number> => {
    let best = Infinity;
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = process.cpuUsage();
      await work(ofSize);
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, user + system);
    }
    return best;
  };
  await work(size); // compiles the code
  return (await quickest(size * TIMES)) / (await quickest(size));
}
