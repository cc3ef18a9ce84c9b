import { Refusal } from '../contract/errors.ts';
import type { CommandOf } from '../world/commands.ts';
import type { OrderedCommand } from './command-parts.ts';
import { STORE_TIMES } from './store-times.ts';
import type { WallClock } from './wall-clock.ts';

/** How many refusals wait for a store that is unavailable, and their characters of JSON: the limits of one server. */
const MOST_UNSENT = 1000;
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** Those whose commands wait. */
interface Sender {
  /** Makes a call of the store, which sends them too. */
  follow(isUse: boolean): Promise<void>;
  inBackground(work: () => Promise<void>): void;
}

interface Unsent {
  readonly item: OrderedCommand;
  readonly characters: number;
  readonly refused: CommandOf<'refused'>;
}

/** Requests that this server has refused while the store was unavailable. They are sent again every second, and nobody waits. */
export class UnsentRefusals {
  readonly #wallClock: WallClock;
  readonly #dropped: (count: number) => void;
  readonly #bySender = new Map<Sender, Map<number, Unsent>>();
  readonly #due = new Set<Sender>();
  #count = 0;
  #characters = 0;
  #droppedNow = 0;

  /** @param dropped called with how many found no room, once the others are sent or the server stops */
  constructor(wallClock: WallClock, dropped: (count: number) => void) {
    this.#wallClock = wallClock;
    this.#dropped = dropped;
  }

  /** Keeps a command that failed, if it is one of these. @returns false when somebody has to be told that it failed */
  keep(sender: Sender, item: OrderedCommand, error: unknown): boolean {
    const isUnavailable = error instanceof Refusal && error.code === 'STORE_UNAVAILABLE';
    const refused = item.command;
    // the client was told by a 503 that the store is unavailable, and nothing has become of its request
    if (!isUnavailable || refused.kind !== 'refused' || refused.refused.code === 'STORE_UNAVAILABLE')
      return false;
    const unsent = this.#bySender.get(sender) ?? new Map<number, Unsent>();
    if (unsent.has(item.number)) return true;
    const { length: characters } = JSON.stringify(refused);
    if (this.#count >= MOST_UNSENT || this.#characters + characters > MOST_CHARACTERS) {
      this.#droppedNow += 1;
      return false;
    }
    if (this.#count === 0) this.#resendLater();
    this.#bySender.set(sender, unsent);
    unsent.set(item.number, { item, characters, refused });
    this.#count += 1;
    this.#characters += characters;
    return true;
  }

  has(sender: Sender): boolean {
    return this.#bySender.has(sender);
  }

  /** The commands that the next call of a sender sends again: all of them, once a second. */
  due(sender: Sender): OrderedCommand[] {
    if (!this.#due.delete(sender)) return [];
    const nowMs = this.#wallClock.nowMs();
    return [...(this.#bySender.get(sender)?.values() ?? [])].map(({ item, refused }) => {
      const waitedMs = refused.request.waitedMs + Math.max(0, nowMs - item.sinceMs); // the clock may have been set back
      item.command = { ...refused, request: { ...refused.request, waitedMs } };
      return item;
    });
  }

  /** Removes a command that is in the log. */
  remove(sender: Sender, number: number): OrderedCommand | undefined {
    const unsent = this.#bySender.get(sender);
    const one = unsent?.get(number);
    if (unsent === undefined || one === undefined) return undefined;
    unsent.delete(number);
    if (unsent.size === 0) this.#bySender.delete(sender);
    this.#count -= 1;
    this.#characters -= one.characters;
    if (this.#count === 0) this.#report();
    return one.item;
  }

  /** Drops the commands of a sender, and refusals among others: their world has ended, or a part of its log is not read. */
  drop(sender: Sender, others: readonly OrderedCommand[] = []): void {
    const kept = [...(this.#bySender.get(sender)?.values() ?? [])].map(({ item }) => item);
    for (const item of new Set([...kept, ...others])) {
      if (item.isSettled || item.command.kind !== 'refused') continue;
      item.fail(new Refusal('STORE_UNAVAILABLE'));
      this.#droppedNow += 1;
      this.remove(sender, item.number);
    }
    if (this.#count === 0) this.#report();
  }

  #report(): void {
    if (this.#droppedNow > 0) this.#dropped(this.#droppedNow);
    this.#droppedNow = 0;
  }

  #resendLater(): void {
    this.#wallClock.schedule(this.#wallClock.nowMs() + STORE_TIMES.resend, () => {
      for (const sender of this.#bySender.keys()) {
        this.#due.add(sender);
        sender.inBackground(() => sender.follow(false));
      }
      if (this.#count > 0) this.#resendLater();
    });
  }
}
