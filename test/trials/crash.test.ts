import { expect, test } from 'vitest';
import { KILL_MOMENTS, CrashTrial } from './support/crash-trial.ts';

const { CRASHES = '8', CRASH_SEED = String(Date.now()) } = process.env;

const say = (text: string): void => void process.stdout.write(`crash: ${text}\n`);

test('whenever a sandbox is killed, it starts again on the last whole file, and says so', async () => {
  say(`CRASH_SEED=${CRASH_SEED}, ${CRASHES} kills`);
  const trial = new CrashTrial(CRASH_SEED);
  await trial.prepare();
  let kept = trial.restored();
  let starts = 1; // the last one, which is not killed
  for (let nth = 0; nth < Number(CRASHES); nth += 1) {
    const killMoment = KILL_MOMENTS[nth % KILL_MOMENTS.length]!;
    if (killMoment !== 'starting') starts += 1;
    await trial.crash(killMoment, kept);
    kept = trial.restored();
  }
  await trial.finish(kept);
  say(JSON.stringify(Object.fromEntries([...trial.found].toSorted(([a], [b]) => (a < b ? -1 : 1)))));
  expect(trial.found.get('restores')).toBe(starts);
});
