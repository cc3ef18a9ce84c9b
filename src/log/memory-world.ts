import { Refusal } from '../contract/errors.ts';
import { apply, type Applied, type ResultOf } from '../world/apply.ts';
import { openWorld, type WorldState, worldTimeMs } from '../world/state.ts';
import { Journal, type MemoryBudget } from '../world/journal/journal.ts';
import type { Command, Stamp } from '../world/commands.ts';
import { eventData, type StateEvent } from '../world/events.ts';
import { type Exchange, journalEntry } from '../world/journal/exchange.ts';
import { nextDueMsOf } from '../world/ledger.ts';
import {
  dropped,
  type DropReason,
  type WorldHandle,
  type WorldJournal,
  type WorldObserver,
} from './world-log.ts';
import type { ScenarioSource } from '../contract/snapshot-lines.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import type { Change } from '../payout/payout.ts';
import { EventLog, type EventReader } from './event-log.ts';
import { HeldAnswers } from './held-answers.ts';
import { SettlementTimer } from './settlement-timer.ts';
import type { WallClock } from './wall-clock.ts';

/** What all worlds of a log share. */
export interface WorldParts {
  readonly compiler: ScenarioCompiler;
  /** The scenario of every world that has not chosen another. A reload of its file changes it. */
  readonly activeSource: () => ScenarioSource;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
  readonly journalBudget: MemoryBudget;
  /** How much the journal of one world may hold. */
  readonly journalLimits: { readonly items: number; readonly bytes: number };
}

/** The log around one world. */
interface Surroundings {
  readonly parts: WorldParts;
  /** What the log adds to each command. @throws Refusal SANDBOX_FULL for a restore that there is no room for */
  readonly stamp: (command: Command) => Stamp;
  /** Called after each command. */
  readonly applied: () => void;
}

type OnChanges = (changes: readonly Change[]) => void;

const changesIn = (events: readonly StateEvent[]): readonly Change[] =>
  events.flatMap((event) => (event.type === 'settlement' ? [event.change] : []));

/** A world in the memory of this process. A command is atomic because nothing in it waits. */
export class MemoryWorld implements WorldHandle {
  readonly id: string;
  readonly held = new HeldAnswers();
  readonly #journal: Journal;
  /** Null until the first reader comes, so that a world without readers keeps no events. */
  #events: EventLog | null = null;
  readonly #state: WorldState;
  readonly #surroundings: Surroundings;
  readonly #timer: SettlementTimer;
  /** A command that is applied in several parts, which the following ones wait for. */
  #unfinished: Promise<unknown> | null = null;
  #closed: DropReason | null = null;

  constructor(id: string, surroundings: Surroundings) {
    const { parts } = surroundings;
    const { wallClock, compiler, activeSource, journalBudget, journalLimits } = parts;
    this.id = id;
    this.#surroundings = surroundings;
    this.#state = openWorld(id, activeSource(), wallClock.nowMs(), compiler);
    this.#timer = new SettlementTimer(wallClock, () => this.#settle());
    this.#journal = new Journal(journalLimits, journalBudget);
  }

  get latest(): Readonly<WorldState> {
    this.#follow();
    return this.#state;
  }

  get nowMs(): number {
    const { clock, wallMs } = this.#state;
    return worldTimeMs(clock, Math.max(wallMs, this.#surroundings.parts.wallClock.nowMs()));
  }

  get journal(): WorldJournal {
    return this.#journal;
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  async submit<C extends Command>(command: C, onChanges?: OnChanges): Promise<ResultOf<C>> {
    const replaces = command.kind === 'reset' || command.kind === 'restore';
    if (!replaces) while (this.#unfinished !== null) await this.#unfinished;
    let applied = this.#apply(command, onChanges);
    if (applied.kind === 'unfinished') applied = await this.#finish(applied.next, onChanges);
    if (applied.kind === 'refused') throw new Refusal(applied.refusal.code, applied.refusal.details);
    return applied.result as ResultOf<C>;
  }

  async read<T>(look: (state: Readonly<WorldState>) => T): Promise<T> {
    await this.submit({ kind: 'settle' });
    return look(this.#state);
  }

  watch(afterId: string | undefined, reader: EventReader): () => void {
    const { wallClock, journalBudget } = this.#surroundings.parts;
    this.#events ??= new EventLog(wallClock.nowMs(), journalBudget);
    if (this.#events.isFull) throw new Refusal('TOO_MANY_READERS');
    return this.#events.read(afterId, reader);
  }

  announce(exchange: Exchange): void {
    this.#events?.publish('request', () => journalEntry(exchange));
  }

  /** Ends the world: its timer, the answers it holds back, its readers, its journal. */
  close(reason: DropReason): void {
    this.#closed = reason;
    this.#timer.set(null, this.#state.clock);
    this.held.close();
    this.#events?.close();
    this.#journal.clear();
  }

  /** Ends the answers that are held back and the readers, when the sandbox stops. */
  release(): void {
    this.held.release(true);
    this.#events?.close();
  }

  /** Applies what is left of a command part by part, and lets others have their turn in between. */
  async #finish(command: Command, onChanges?: OnChanges): Promise<Exclude<Applied, { kind: 'unfinished' }>> {
    let done = (): void => undefined;
    const unfinished = new Promise<void>((resolve) => (done = resolve));
    this.#unfinished = unfinished;
    try {
      for (let next = command; ;) {
        await this.#surroundings.parts.wallClock.yieldToEventLoop();
        const applied = this.#apply(next, onChanges);
        if (applied.kind !== 'unfinished') return applied;
        next = applied.next;
      }
    } finally {
      if (this.#unfinished === unfinished) this.#unfinished = null;
      done();
    }
  }

  #apply(command: Command, onChanges?: OnChanges): Applied {
    this.#refuseIfClosed();
    const { parts, stamp, applied } = this.#surroundings;
    this.#follow();
    const outcome = apply(this.#state, command, stamp(command), parts.compiler);
    if (outcome.kind === 'done' && (command.kind === 'reset' || command.kind === 'restore')) {
      this.held.release();
      this.#journal.clear();
    }
    applied();
    for (const event of outcome.events) this.#publish(event);
    onChanges?.(changesIn(outcome.events));
    this.#timer.set(nextDueMsOf(this.#state), this.#state.clock);
    return outcome;
  }

  /** Takes over the scenario of the server where it has changed, in a world that follows it. */
  #follow(): void {
    const { parts, stamp } = this.#surroundings;
    const { scenario } = this.#state;
    const source = parts.activeSource();
    if (scenario.isChosen || scenario.source === source) return;
    const follow = { kind: 'follow', source } as const;
    apply(this.#state, follow, stamp(follow), parts.compiler);
  }

  #publish(event: StateEvent): void {
    if (event.type === 'settlement') this.#surroundings.parts.observer.settled(this.id, event.change);
    this.#events?.publish(event.type, () => eventData(event));
  }

  #settle(): void {
    this.submit({ kind: 'settle' }).catch((error: unknown) => {
      if (!this.isClosed) this.#surroundings.parts.observer.failed(this.id, error);
    });
  }

  #refuseIfClosed(): void {
    if (this.#closed !== null) throw dropped(this.#closed);
  }
}
