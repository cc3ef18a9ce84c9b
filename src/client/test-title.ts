/** What vitest and jest say of the test that runs, in `expect.getState()`. */
interface ExpectState {
  readonly currentTestName?: string;
  /** jest, in a concurrent test. */
  readonly currentConcurrentTestName?: () => string | undefined;
}

interface Runner {
  /** Of jest, and of vitest with `globals`. */
  readonly expect?: { readonly getState?: () => ExpectState };
  /** Of vitest: what runs at present. */
  readonly __vitest_worker__?: {
    readonly current?: { readonly type?: string; readonly concurrent?: boolean };
  };
}

/** Where vitest keeps its `expect`, also without `globals`. */
const VITEST = Symbol.for('expect-global');

/**
 * The title of the test that runs, with those of the groups around it, in vitest and jest. Undefined elsewhere, and where it is not certain:
 * between tests, and in vitest in a concurrent test.
 */
export function runningTest(): string | undefined {
  const scope = globalThis as Runner & { readonly [VITEST]?: Runner['expect'] };
  const { current } = scope.__vitest_worker__ ?? {};
  if (current !== undefined && (current.type !== 'test' || current.concurrent)) return undefined;
  const state = (scope[VITEST] ?? scope.expect)?.getState?.();
  return state?.currentConcurrentTestName?.() ?? state?.currentTestName;
}
