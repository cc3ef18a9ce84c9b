import { Refusal } from '../contract/errors.ts';
import type { Applied, ResultOf } from '../world/apply.ts';
import { isReplacing, type Command } from '../world/commands.ts';
import type { WallClock } from './wall-clock.ts';

/** Submits the commands of one world. A command in several parts is finished before the next one. */
export class CommandParts {
  readonly #wallClock: WallClock;
  #unfinished: Promise<unknown> | null = null;

  constructor(wallClock: WallClock) {
    this.#wallClock = wallClock;
  }

  /**
   * Applies a command part by part, with turns for other work in between. Only commands that replace the state do not wait for
   * an unfinished command.
   *
   * @throws Refusal as the command is refused
   */
  async submit<C extends Command>(
    command: C,
    apply: (command: Command) => Applied | Promise<Applied>,
  ): Promise<ResultOf<C>> {
    if (!isReplacing(command)) while (this.#unfinished !== null) await this.#unfinished;
    const first = apply(command);
    let applied = first instanceof Promise ? await first : first;
    if (applied.kind === 'unfinished') applied = await this.#finish(applied.next, apply);
    if (applied.kind === 'refused') throw new Refusal(applied.refusal.code, applied.refusal.details);
    return applied.result as ResultOf<C>;
  }

  async #finish(
    command: Command,
    apply: (command: Command) => Applied | Promise<Applied>,
  ): Promise<Exclude<Applied, { kind: 'unfinished' }>> {
    let done = (): void => undefined;
    const unfinished = new Promise<void>((resolve) => (done = resolve));
    this.#unfinished = unfinished;
    try {
      for (let next = command; ;) {
        await this.#wallClock.yieldToEventLoop();
        const applied = await apply(next);
        if (applied.kind !== 'unfinished') return applied;
        next = applied.next;
      }
    } finally {
      if (this.#unfinished === unfinished) this.#unfinished = null;
      done();
    }
  }
}
