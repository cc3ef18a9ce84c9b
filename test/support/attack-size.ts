/** How many fuzzed requests each kind of fuzz sends: half of ATTACKS, or a short form. */
export const ATTACKS = Math.ceil(Number(process.env['ATTACKS'] ?? 3000) / 2);

/** What all of them are drawn from: the same again with ATTACK_SEED. */
export const ATTACK_SEED = Number(process.env['ATTACK_SEED'] ?? Date.now() % 2 ** 31);

/** Tells how to see the same again, before anything else. */
export const saySeed = (): void => void process.stderr.write(`ATTACK_SEED=${ATTACK_SEED}\n`);
