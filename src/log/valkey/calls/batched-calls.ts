import type { WallClock } from '../../wall-clock.ts';
import type { JoinedCalls } from './joined-calls.ts';

const MOST_AT_ONCE = 200;
const LATER_MS = 50;

interface Parts {
  readonly wallClock: WallClock;
  readonly store: { readonly joined: JoinedCalls };
}

/** Makes one call at a time. Items that come while a call is under way go with the next one. */
export class BatchedCalls<Item> {
  readonly #wallClock: WallClock;
  readonly #joined: JoinedCalls;
  readonly #call: (items: readonly Item[]) => Promise<readonly Item[] | void>;
  #waiting: Item[] = [];
  #flushed: (() => void)[] = [];
  #isRunning = false;
  #cancelLater: (() => void) | null = null;

  /** @param call never fails: it settles the promise of each item. It returns those that should go with a later call, before all others */
  constructor(
    { wallClock, store }: Parts,
    call: (items: readonly Item[]) => Promise<readonly Item[] | void>,
  ) {
    this.#wallClock = wallClock;
    this.#joined = store.joined;
    this.#call = call;
  }

  get isIdle(): boolean {
    return !this.#isRunning && this.#waiting.length === 0;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#start();
  }

  /** Adds an item that can wait for a call that is made anyway. */
  addLater(item: Item): void {
    this.#waiting.push(item);
    if (!this.#isRunning) this.#startLater();
  }

  /** Resolves once everything that was added before is done. */
  flush(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#flushed.push(resolve);
      this.#start();
    });
  }

  #startLater(): void {
    const wallClock = this.#wallClock;
    this.#cancelLater ??= wallClock.schedule(wallClock.nowMs() + LATER_MS, () => this.#start());
  }

  #start(): void {
    this.#cancelLater?.();
    this.#cancelLater = null;
    if (this.#isRunning || this.#waiting.length === 0) return;
    this.#isRunning = true;
    void this.#joined.make(() => this.#callOnce());
  }

  async #callOnce(): Promise<void> {
    const items = this.#waiting.splice(0, MOST_AT_ONCE);
    const flushed = this.#waiting.length === 0 ? this.#flushed.splice(0) : [];
    const again = (await this.#call(items)) ?? [];
    this.#isRunning = false;
    if (this.#waiting.length === 0) flushed.push(...this.#flushed.splice(0));
    for (const resolve of flushed) resolve();
    this.#waiting.unshift(...again);
    if (again.length > 0) this.#startLater();
    else this.#start();
  }
}
