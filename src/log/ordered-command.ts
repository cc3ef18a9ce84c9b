import type { Change } from '../payout/payout.ts';
import type { Applied } from '../world/apply.ts';
import type { Command } from '../world/commands.ts';
import type { MaybePromise, NewCommand } from './store.ts';

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
