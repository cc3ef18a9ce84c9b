/** How many fuzzed requests each kind of fuzz sends: half of ATTACKS, or a short form. */
export const ATTACKS = Math.ceil(Number(process.env['ATTACKS'] ?? 3000) / 2);

/** The seed of all fuzzed requests. ATTACK_SEED repeats a run. */
export const ATTACK_SEED = Number(process.env['ATTACK_SEED'] ?? Date.now() % 2 ** 31);

/** Prints how to repeat the run, before anything else. */
export const saySeed = (): void => void process.stderr.write(`ATTACK_SEED=${ATTACK_SEED}\n`);
