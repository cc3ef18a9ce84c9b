import { Refusal } from '../contract/errors.ts';
import type { Change } from '../payout/payout.ts';
import type { Applied, ResultOf } from '../world/apply.ts';
import { isReplacing, type Command } from '../world/commands.ts';
import type { Logged, MaybePromise, NewCommand } from './store.ts';
import type { WallClock } from './wall-clock.ts';

/** Called with the steps that a command applied, part by part. */
export type OnChanges = (changes: readonly Change[]) => void;
/** Called when a command turns out to be in the log after its caller was refused with STORE_UNAVAILABLE. */
export type OnFound = (applied: Applied) => void;

/** A command of this server on its way through the log. */
export class OrderedCommand implements NewCommand {
  readonly number: number;
  readonly command: Command;
  readonly stamp: NewCommand['stamp'];
  readonly onChanges: OnChanges | undefined;
  onFound: OnFound | undefined;
  applied: Applied | null = null;
  error: unknown = null;
  isSettled = false;
  #resolve: ((applied: Applied) => void) | null = null;
  #reject: ((error: unknown) => void) | null = null;

  constructor(
    number: number,
    command: Command,
    stamp: NewCommand['stamp'],
    onChanges: OnChanges | undefined,
  ) {
    this.number = number;
    this.command = command;
    this.stamp = stamp;
    this.onChanges = onChanges;
  }

  settle(applied: Applied): void {
    if (this.isSettled) return this.onFound?.(applied);
    this.isSettled = true;
    this.applied = applied;
    this.#resolve?.(applied);
  }

  fail(error: unknown): void {
    this.isSettled = true;
    this.error = error;
    this.#reject?.(error);
  }

  /** Its outcome: at once where the store has answered already. */
  outcome(): MaybePromise<Applied> {
    if (this.applied !== null) return this.applied;
    if (this.isSettled) throw this.error;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }
}

/** A command that has its place. Field by field: V8 gives each object that begins with a spread a class of its own. */
export function loggedAt(
  { number, command, stamp }: NewCommand,
  position: number,
  name: string,
  wallMs: number,
): Logged {
  const { server, maxRecords, records, keep, ends, scenarioCharactersFree } = stamp;
  const at = { server, position, wallMs, maxRecords, records, keep, ends, scenarioCharactersFree };
  return { position, name, number, command, stamp: at };
}

type Order = (command: Command, onChanges: OnChanges | undefined, onFound?: OnFound) => MaybePromise<Applied>;

/** The commands of one world, each of which may be applied in several parts: the others wait meanwhile, but for a reset or a restore. */
export class CommandParts {
  readonly #wallClock: WallClock;
  readonly #order: Order;
  readonly #collecting = new Set<OnChanges>();
  #unfinished: Promise<unknown> | null = null;

  constructor(wallClock: WallClock, order: Order) {
    this.#wallClock = wallClock;
    this.#order = order;
  }

  /** Whether a command has parts that are not applied yet. */
  get isUnderWay(): boolean {
    return this.#unfinished !== null;
  }

  /** Orders a command with all its parts. See `World.submit`. */
  submit<C extends Command>(
    command: C,
    onChanges?: OnChanges,
    onFound?: (result: ResultOf<C>) => void,
  ): MaybePromise<ResultOf<C>> {
    if (this.#unfinished !== null && !isReplacing(command)) {
      return this.#unfinished.then(() => this.submit(command, onChanges, onFound));
    }
    const found = (applied: Applied): void => {
      if (applied.kind === 'done') onFound?.(applied.result as ResultOf<C>);
    };
    const applied = this.#order(command, onChanges, onFound && found);
    if (applied instanceof Promise) {
      return applied.then((one) => this.#resultOf<C>(one, onChanges));
    }
    return this.#resultOf<C>(applied, onChanges);
  }

  /** Tells those who wait for a command which steps it applied. @param added one who waits from now on */
  tell(changes: readonly Change[], added: OnChanges | undefined): void {
    if (added !== undefined) this.#collecting.add(added);
    for (const onChanges of this.#collecting) onChanges(changes);
  }

  #resultOf<C extends Command>(
    applied: Applied,
    onChanges: OnChanges | undefined,
  ): MaybePromise<ResultOf<C>> {
    if (applied.kind === 'unfinished') return this.#finish<C>(applied.next, onChanges);
    if (onChanges !== undefined) this.#collecting.delete(onChanges);
    if (applied.kind === 'refused') throw new Refusal(applied.refusal.code, applied.refusal.details);
    return applied.result as ResultOf<C>;
  }

  /** Orders the further parts of a command, with turns for other work in between. */
  async #finish<C extends Command>(command: Command, onChanges: OnChanges | undefined): Promise<ResultOf<C>> {
    let done = (): void => undefined;
    const unfinished = new Promise<void>((resolve) => (done = resolve));
    this.#unfinished = unfinished;
    try {
      for (let next = command; ;) {
        await this.#wallClock.yieldToEventLoop();
        const applied = await this.#order(next, onChanges);
        if (applied.kind !== 'unfinished') return await this.#resultOf<C>(applied, onChanges);
        next = applied.next;
      }
    } finally {
      if (onChanges !== undefined) this.#collecting.delete(onChanges);
      if (this.#unfinished === unfinished) this.#unfinished = null;
      done();
    }
  }
}
