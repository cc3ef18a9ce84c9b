import type { BookHead, BookPiece, BookRef, Ledger, RestoreOutcome, Settled } from '../ledger/ledger.ts';
import {
  advance,
  freeze,
  inThePast,
  resume,
  worldTimeMs,
  wouldGoBack,
  type WorldClock,
} from '../world/clock.ts';
import { dropped, movedMeanwhile, type DropReason } from '../world/payout-refusals.ts';
import { SettlementAlarm } from './settlement-alarm.ts';
import type { Change } from '../payout/payout.ts';
import type { WallClock } from './wall-clock.ts';

/** Who hears what happens in a book. */
interface BookObserver {
  settled(change: Change): void;
  /** A settlement that nobody waits for failed: our own fault. */
  failed(error: unknown): void;
}

interface BookParts {
  readonly ledger: Ledger;
  readonly wallClock: WallClock;
  readonly observer: BookObserver;
}

/** Where a clock moves to: so far, up to a time, or until nothing is planned any more. */
export type ClockMove = { readonly byMs: number } | { readonly toMs: number } | { readonly until: 'idle' };

/** How a book goes on that takes the place of another. */
interface Placing {
  readonly clock: WorldClock;
  /** Called in the same breath in which the book is in its place. */
  readonly placed: () => void;
}

/** How many due steps are applied before other work gets its turn: some 5 ms. */
const STEPS_AT_ONCE = 2000;
const CHANGES_A_PIECE = 1000;

/**
 * The book of one world, and the clock that it is kept by: every operation on the ledger is done at the world's own
 * time, and waits while that time is being moved, so that none falls into the middle of it.
 */
export class WorldBook {
  readonly #parts: BookParts;
  #ref: BookRef;
  #clock: WorldClock;
  #nextDueMs: number | null = null;
  readonly #alarm: SettlementAlarm;
  /** What every operation of this world waits for. */
  #busy: Promise<unknown> | null = null;
  /** Goes up when another book takes the place of this one: what is under way then is void. */
  #life = 0;
  /** Why there is no book any more; null while there is one. */
  #closed: DropReason | null = null;

  constructor(parts: BookParts, worldId: string, openingBalancePaise: number, clock: WorldClock) {
    this.#parts = parts;
    this.#alarm = new SettlementAlarm(parts.wallClock, () => this.#ring());
    this.#clock = clock;
    this.#ref = { worldId, openingBalancePaise, openedAtMs: this.nowMs };
  }

  /** World time, ms since the epoch. */
  get nowMs(): number {
    return worldTimeMs(this.#clock, this.#parts.wallClock.nowMs());
  }

  get isFrozen(): boolean {
    return this.#clock.frozenAtMs !== null;
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  get clock(): WorldClock {
    return this.#clock;
  }

  /** One operation on the ledger, at the world's time. What came due before it is told. */
  async perform<T extends Settled>(
    step: (ledger: Ledger, book: BookRef, nowMs: number) => Promise<T>,
  ): Promise<T> {
    while (this.#busy !== null || this.#isDue) await (this.#busy ?? this.#whileBusy(this.#catchUp()));
    const life = this.#life;
    const outcome = await step(this.#parts.ledger, this.#openRef, this.nowMs);
    if (life === this.#life) this.#note(outcome);
    return outcome;
  }

  /** Stops the clock where it stands. */
  async freeze(): Promise<void> {
    while (this.#busy !== null) await this.#busy;
    this.#clock = freeze(this.#clock, this.#parts.wallClock.nowMs());
    this.#arm(null);
  }

  /** Lets the clock run on from where it stands. */
  async resume(): Promise<void> {
    while (this.#busy !== null) await this.#busy;
    this.#clock = resume(this.#clock, this.#parts.wallClock.nowMs());
    await this.perform((ledger, book, nowMs) => ledger.settle(book, nowMs, STEPS_AT_ONCE));
  }

  /**
   * Gives the world another clock. What came due by its time happens first.
   *
   * @throws Refusal CLOCK_BACKWARDS when that clock is behind, and something has happened in this world
   */
  async setClock(clock: WorldClock): Promise<void> {
    while (this.#busy !== null) await this.#busy;
    const toMs = worldTimeMs(clock, this.#parts.wallClock.nowMs());
    const { nowMs } = this;
    if (toMs >= nowMs) {
      await this.move({ toMs }, () => null);
      const nextDueMs = this.#nextDueMs;
      this.#arm(null); // it was set by the other clock
      this.#clock = clock;
      this.#arm(nextDueMs);
      return;
    }
    if (!(await this.reopen(this.#ref.openingBalancePaise, clock))) throw wouldGoBack(nowMs, toMs);
  }

  /**
   * Moves the clock forward, and resolves when all that came due has happened. Other requests of this world wait
   * for it; other worlds do not.
   *
   * @param make is given what changed, some thousand changes at a time, in the order in which they happened: there may be a
   *   million, and what is made of them may be lighter than they are
   * @returns what it made
   * @throws Refusal INVALID_REQUEST for a time in the past or beyond the year 9999, WORLD_REPLACED when it was reset meanwhile
   */
  async move<T>(to: ClockMove, make: (changes: readonly Change[]) => T): Promise<readonly T[]> {
    while (this.#busy !== null) await this.#busy;
    if ('toMs' in to && to.toMs < this.nowMs) throw inThePast(this.nowMs);
    if (!('until' in to)) this.#forward('byMs' in to ? to.byMs : to.toMs - this.nowMs);
    this.#arm(null); // it was set by the clock before it moved
    return this.#whileBusy(this.#settleAll('until' in to, make));
  }

  /** Forgets all that stands in the book, and opens another. What is under way is void. */
  async renew(openingBalancePaise: number, clock: WorldClock): Promise<void> {
    this.#life += 1;
    this.#open(openingBalancePaise, clock);
    await this.#whileBusy(this.#parts.ledger.drop(this.#ref.worldId));
  }

  /** Opens the book anew, if nothing but its opening stands in it. @returns whether it did */
  async reopen(openingBalancePaise: number, clock: WorldClock): Promise<boolean> {
    while (this.#busy !== null) await this.#busy;
    const openedAtMs = worldTimeMs(clock, this.#parts.wallClock.nowMs());
    const ref = { ...this.#openRef, openingBalancePaise, openedAtMs };
    if (!(await this.#parts.ledger.reopen(ref))) return false;
    this.#ref = ref;
    this.#clock = clock;
    return true;
  }

  /**
   * Puts a state in the place of all that the book has, and goes on from its time. It comes in pieces, and others have their turn
   * in between; until the last of them is there, this world goes on as it was.
   *
   * @param prepare called when all pieces were taken
   * @throws what `pieces` or `prepare` throw, and nothing is changed then; Refusal WORLD_REPLACED when it was reset meanwhile
   */
  async restore(
    head: BookHead,
    pieces: Iterable<BookPiece> | AsyncIterable<BookPiece>,
    prepare: () => Placing,
  ): Promise<RestoreOutcome> {
    const { ledger, wallClock } = this.#parts;
    const draft = await ledger.draft(head);
    try {
      for await (const piece of pieces) {
        await ledger.extend(draft, piece);
        await wallClock.letOthersRun();
      }
      while (this.#busy !== null) await this.#busy;
      return await this.#whileBusy(this.#place(draft, head.openingBalancePaise, prepare()));
    } finally {
      await ledger.discard(draft);
    }
  }

  /** Ends the book: its timer is called off, and nothing is written any more. */
  async close(reason: DropReason): Promise<void> {
    this.#closed = reason;
    this.#life += 1;
    this.#arm(null);
    await this.#parts.ledger.drop(this.#ref.worldId);
  }

  /** Asked for in the same breath as the ledger, so that a world that was dropped never opens its book again. */
  get #openRef(): BookRef {
    if (this.#closed !== null) throw dropped(this.#closed);
    return this.#ref;
  }

  #open(openingBalancePaise: number, clock: WorldClock): void {
    this.#clock = clock;
    this.#ref = { worldId: this.#ref.worldId, openingBalancePaise, openedAtMs: this.nowMs };
    this.#arm(null);
  }

  async #place(
    draft: string,
    openingBalancePaise: number,
    { clock, placed }: Placing,
  ): Promise<RestoreOutcome> {
    const life = this.#life;
    const outcome = await this.#parts.ledger.restore(this.#openRef, draft);
    if (outcome.kind !== 'restored') return outcome;
    if (life !== this.#life) throw movedMeanwhile();
    this.#life += 1;
    this.#open(openingBalancePaise, clock);
    placed();
    this.#arm(outcome.nextDueMs);
    return outcome;
  }

  #forward(byMs: number): void {
    this.#clock = advance(this.#clock, byMs, this.#parts.wallClock.nowMs());
  }

  async #whileBusy<T>(work: Promise<T>): Promise<T> {
    const busy = work.catch(() => undefined);
    this.#busy = busy;
    try {
      return await work;
    } finally {
      if (this.#busy === busy) this.#busy = null;
    }
  }

  /** Applies all that is due, and, until idle, moves the clock on to what is due next for as long as something is. */
  async #settleAll<T>(untilIdle: boolean, make: (changes: readonly Change[]) => T): Promise<readonly T[]> {
    const life = this.#life;
    const made: T[] = [];
    let changes: Change[] = [];
    for (let appliedAtOnce = 0; ;) {
      const settled = await this.#parts.ledger.settle(
        this.#openRef,
        this.nowMs,
        STEPS_AT_ONCE - appliedAtOnce,
      );
      if (life !== this.#life) throw movedMeanwhile();
      for (const change of settled.changes) this.#parts.observer.settled(change);
      changes.push(...settled.changes);
      if (changes.length >= CHANGES_A_PIECE) {
        made.push(make(changes));
        changes = [];
      }
      const { nextDueMs } = settled;
      const isDue = nextDueMs !== null && nextDueMs <= this.nowMs;
      if (!isDue && (nextDueMs === null || !untilIdle)) {
        this.#arm(nextDueMs);
        return changes.length === 0 ? made : [...made, make(changes)];
      }
      if (!isDue && nextDueMs !== null) this.#forward(nextDueMs - this.nowMs);
      appliedAtOnce += settled.changes.length;
      if (appliedAtOnce >= STEPS_AT_ONCE) {
        appliedAtOnce = 0;
        await this.#parts.wallClock.letOthersRun();
        if (life !== this.#life) throw movedMeanwhile();
      }
    }
  }

  get #isDue(): boolean {
    return this.#nextDueMs !== null && this.#nextDueMs <= this.nowMs;
  }

  /** Applies what is due by now piece by piece, before somebody asks: it may be much, after a long time without a request. */
  async #catchUp(): Promise<void> {
    for (const life = this.#life; life === this.#life && this.#isDue;) {
      const settled = await this.#parts.ledger.settle(this.#openRef, this.nowMs, STEPS_AT_ONCE);
      if (life === this.#life) this.#note(settled);
      if (this.#isDue) await this.#parts.wallClock.letOthersRun();
    }
  }

  /** After every ledger step: tells what has happened, and sets the alarm for what comes next. */
  #note({ changes, nextDueMs }: Settled): void {
    for (const change of changes) this.#parts.observer.settled(change);
    this.#arm(nextDueMs);
  }

  #arm(nextDueMs: number | null): void {
    this.#nextDueMs = nextDueMs;
    this.#alarm.set(nextDueMs, this.#clock);
  }

  #ring(): void {
    this.perform((ledger, book, nowMs) => ledger.settle(book, nowMs, STEPS_AT_ONCE)).catch(
      (error: unknown) => {
        if (!this.isClosed) this.#parts.observer.failed(error); // it may be closed while this waits for its turn
      },
    );
  }
}
