import fc from 'fast-check';

/** How many fuzzed requests each kind of fuzz sends: half of ATTACKS, or a short form. */
const ATTACKS = Math.ceil(Number(process.env['ATTACKS'] ?? 3000) / 2);

/** The seed of all fuzzed requests. ATTACK_SEED repeats a run. */
const ATTACK_SEED = Number(process.env['ATTACK_SEED'] ?? Date.now() % 2 ** 31);

const AT_ONCE = 50;

/**
 * Attacks with random requests, fifty at once.
 *
 * @param isEnough whether the attack has met everything that it must meet; else it goes on
 */
export async function attackWith<T>(
  request: fc.Arbitrary<T>,
  attack: (atOnce: readonly T[]) => Promise<void>,
  isEnough: () => boolean,
): Promise<void> {
  process.stderr.write(`ATTACK_SEED=${ATTACK_SEED}\n`); // how to repeat the run, before anything else
  const requests = fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE });
  const numRuns = Math.ceil(ATTACKS / AT_ONCE);
  let seed = ATTACK_SEED;
  do await fc.assert(fc.asyncProperty(requests, attack), { seed: seed++, numRuns, endOnFailure: true });
  while (!isEnough());
}

/** Checks a response. Its error shows the request, too. */
export function checked<T>(asked: Buffer, answered: Buffer, check: () => T): T {
  try {
    return check();
  } catch (error) {
    const [request, response] = [asked, answered].map((bytes) => bytes.toString('latin1', 0, 2000));
    throw new Error(`${request}\n\nwas answered\n\n${response}\n\n${String(error)}`, { cause: error });
  }
}
