/** Long work, cut into steps of at most some ms: between two of them, a server may do something else. */
export type Steps<T> = Generator<void, T>;

const ITEMS_A_STEP = 50;

/** What is made of each item, in steps. */
export function* inSteps<From, To>(items: Iterable<From>, made: (item: From) => To): Steps<To[]> {
  const all: To[] = [];
  for (const item of items) if (all.push(made(item)) % ITEMS_A_STEP === 0) yield;
  return all;
}

/** Takes all steps at once. */
export function whole<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
