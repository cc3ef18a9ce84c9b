// Runs each test many times in one warm process: once for every mutant that it meets, and then as it is, which must still pass.
import { appendFileSync, readFileSync } from 'node:fs';
import { TestRunner } from 'vitest';

const NONE = 0;
/** A mutant that makes a test go round so many times more often than it does by itself never ends. */
const ENDLESS = 20;

/** What this process is to do, written by run.mjs. */
const plan = JSON.parse(readFileSync(process.env.MUTATION_PLAN, 'utf8'));
const tell = (line) => appendFileSync(plan.report, `${JSON.stringify(line)}\n`);

/** What the mutated code asks. */
const mutation = {
  active: plan.kind === 'loading' ? plan.mutant : NONE,
  met: new Set(),
  turns: 0,
  maxTurns: plan.kind === 'loading' ? 1e8 : Infinity,
  at(number) {
    if (plan.kind === 'survey') mutation.met.add(number);
    return number === mutation.active;
  },
  /** Every turn of a loop: a mutant that never ends is ended here. */
  turn() {
    if (++mutation.turns > mutation.maxTurns && mutation.active !== NONE) throw new Error('an endless loop');
  },
};
globalThis.mutation = mutation;

const killed = new Set();
let current;
let startedAt;

function kill(number, how) {
  if (number === NONE || killed.has(number)) return;
  killed.add(number);
  tell({
    killed: number,
    test: current?.fullTestName ?? current?.name ?? '',
    file: current?.file?.name ?? '',
    how,
  });
}

// vitest fails a run for these, whatever the tests say
for (const event of ['unhandledRejection', 'uncaughtException'])
  process.on(event, () => kill(mutation.active, event));

export default class MutationRunner extends TestRunner {
  #tries = [];

  async onBeforeRunTask(test) {
    await super.onBeforeRunTask(test);
    if (plan.kind === 'loading') {
      if (!plan.tests.includes(test.id)) test.mode = 'skip';
      return;
    }
    current = test;
    this.#tries = (plan.tries?.[test.id] ?? []).filter((number) => !killed.has(number));
    if (plan.kind === 'survey') {
      if (mutation.met.size > 0) this.#tellMet(null);
    } else if (this.#tries.length === 0) test.mode = 'skip';
    else test.repeats = this.#tries.length;
    mutation.turns = 0;
    startedAt = process.cpuUsage();
  }

  onBeforeTryTask(test, { repeats }) {
    super.onBeforeTryTask(test);
    if (plan.kind !== 'tries') return;
    mutation.turns = 0;
    mutation.maxTurns = 100_000 + ENDLESS * plan.turns[test.id];
    mutation.active = this.#tries[repeats] ?? NONE;
    if (mutation.active !== NONE) tell({ trying: mutation.active });
  }

  /** After the hooks of the test, so that what it started has ended. */
  onAfterRetryTask(test, { repeats }) {
    if (plan.kind !== 'tries') return;
    const isFailed = test.result.state === 'fail';
    const errors = test.result.errors ?? [];
    if (isFailed && mutation.active !== NONE) {
      const isLate = errors.some(({ message }) => /timed out in/.test(message));
      const isEndless = mutation.turns > mutation.maxTurns;
      kill(mutation.active, isEndless ? 'endless' : isLate ? 'late' : 'failed');
    } else if (isFailed) {
      tell({ spoilt: test.id, test: test.fullTestName, tries: this.#tries, why: errors[0]?.message });
    }
    mutation.active = NONE;
    if (repeats === this.#tries.length) tell({ done: test.id });
    test.result.state = 'run';
    test.result.errors = undefined;
  }

  onAfterRunTask(test) {
    super.onAfterRunTask(test);
    if (plan.kind === 'survey') this.#tellMet(test);
    if (plan.kind === 'loading' && test.result.state === 'fail') {
      current = test;
      kill(plan.mutant, 'failed');
    }
  }

  #tellMet(test) {
    const met = [...mutation.met];
    mutation.met.clear();
    if (test === null) tell({ loading: met });
    else
      tell({
        test: test.id,
        name: test.fullTestName,
        file: test.file.name,
        ms: process.cpuUsage(startedAt).user / 1000,
        waitedMs: test.result.duration,
        why: test.result.errors?.[0]?.message,
        turns: mutation.turns,
        state: test.result.state,
        met,
      });
  }
}
