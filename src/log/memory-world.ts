import { Refusal } from '../contract/errors.ts';
import type { ScenarioSource } from '../contract/snapshot-lines.ts';
import type { Change } from '../payout/payout.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { apply, type Applied, type ResultOf } from '../world/apply.ts';
import type { Command, Stamp } from '../world/commands.ts';
import { eventData } from '../world/events.ts';
import { journalEntry, type Exchange } from '../world/journal/exchange.ts';
import { Journal, type MemoryBudget } from '../world/journal/journal.ts';
import { nextDueMsOf } from '../world/ledger.ts';
import {
  attemptsHeld,
  documentBytesHeld,
  full,
  noRoomForDocument,
  openWorld,
  recordsHeld,
  worldTimeMs,
  type WorldState,
} from '../world/state.ts';
import { EventLog, type EventReader } from './event-log.ts';
import { SettlementTimer, type WallClock } from './wall-clock.ts';
import {
  dropped,
  HeldAnswers,
  type DropReason,
  type WorldHandle,
  type WorldJournal,
  type WorldObserver,
} from './world-log.ts';

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

/** What all worlds of a log may hold together. */
export interface TotalLimits {
  readonly maxRecords: number;
  readonly maxAttempts: number;
  /** In their scenarios and rules. */
  readonly maxDocumentBytes: number;
}

/** What all worlds of a log hold together, and may hold. */
export class Totals implements TotalLimits {
  readonly maxRecords: number;
  readonly maxAttempts: number;
  readonly maxDocumentBytes: number;
  records = 0;
  attempts = 0;
  documentBytes = 0;
  /** What states hold that are being read beside their worlds. */
  draftedRecords = 0;
  draftedBytes = 0;
  uses = 0;

  constructor({ maxRecords, maxAttempts, maxDocumentBytes }: TotalLimits) {
    this.maxRecords = maxRecords;
    this.maxAttempts = maxAttempts;
    this.maxDocumentBytes = maxDocumentBytes;
  }

  get recordsFree(): number {
    return this.maxRecords - this.records - this.draftedRecords;
  }

  get documentBytesFree(): number {
    return this.maxDocumentBytes - this.documentBytes - this.draftedBytes;
  }
}

type OnChanges = (changes: readonly Change[]) => void;

/** A world in the memory of this process. A command is atomic because nothing in it waits. */
export class MemoryWorld implements WorldHandle {
  readonly id: string;
  readonly openedAtMs: number;
  usedAtMs: number;
  readonly held = new HeldAnswers();
  readonly #journal: Journal;
  /** Null until the first reader comes, so that a world without readers keeps no events. */
  #events: EventLog | null = null;
  readonly #state: WorldState;
  readonly #parts: WorldParts;
  readonly #totals: Totals;
  /** What it counts for in the totals. */
  #records = 0;
  #documentBytes = 0;
  #attempts = 0;
  readonly #timer: SettlementTimer;
  /** A command that is applied in several parts, which the following ones wait for. */
  #unfinished: Promise<unknown> | null = null;
  #closed: DropReason | null = null;

  constructor(id: string, parts: WorldParts, totals: Totals) {
    const { wallClock, compiler, activeSource, journalBudget, journalLimits } = parts;
    this.id = id;
    this.#parts = parts;
    this.#totals = totals;
    this.openedAtMs = wallClock.nowMs();
    this.usedAtMs = this.openedAtMs;
    this.#state = openWorld(id, activeSource(), this.openedAtMs, compiler);
    this.#timer = new SettlementTimer(wallClock, () => this.#settle());
    this.#journal = new Journal(journalLimits, journalBudget);
  }

  get latest(): Readonly<WorldState> {
    this.#follow();
    return this.#state;
  }

  get nowMs(): number {
    const { clock, wallMs } = this.#state;
    return worldTimeMs(clock, Math.max(wallMs, this.#parts.wallClock.nowMs()));
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
    const { wallClock, journalBudget } = this.#parts;
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
    this.#count(0, 0, 0);
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
        await this.#parts.wallClock.yieldToEventLoop();
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
    if (this.#closed !== null) throw dropped(this.#closed);
    this.#follow();
    const outcome = apply(this.#state, command, this.#stamp(command), this.#parts.compiler);
    if (outcome.kind === 'done' && (command.kind === 'reset' || command.kind === 'restore')) {
      this.held.release();
      this.#journal.clear();
    }
    const state = this.#state;
    this.#count(recordsHeld(state), attemptsHeld(state.attempts), documentBytesHeld(state));
    const changes: Change[] = [];
    for (const event of outcome.events) {
      if (event.type === 'settlement') {
        changes.push(event.change);
        this.#parts.observer.settled(this.id, event.change);
      }
      this.#events?.publish(event.type, () => eventData(event));
    }
    onChanges?.(changes);
    this.#timer.set(nextDueMsOf(this.#state), this.#state.clock);
    return outcome;
  }

  /** @throws Refusal SANDBOX_FULL for a restore that there is no room for */
  #stamp(command: Command): Stamp {
    const { recordsFree, documentBytesFree, maxRecords, maxAttempts, attempts } = this.#totals;
    // a body may come long after its key; a settlement follows from what was known before
    if (command.kind !== 'settle' && command.kind !== 'follow') this.#totals.uses += 1;
    if (command.kind === 'restore') {
      const { state } = command;
      if (recordsHeld(state) > recordsFree + this.#records) throw full(maxRecords);
      if (documentBytesHeld(state) > documentBytesFree + this.#documentBytes) throw noRoomForDocument();
    }
    const wallMs = this.#parts.wallClock.nowMs();
    return { wallMs, maxRecords, recordsFree, attemptsFree: maxAttempts - attempts, documentBytesFree };
  }

  #count(records: number, attempts: number, documentBytes: number): void {
    this.#totals.records += records - this.#records;
    this.#totals.attempts += attempts - this.#attempts;
    this.#totals.documentBytes += documentBytes - this.#documentBytes;
    this.#records = records;
    this.#attempts = attempts;
    this.#documentBytes = documentBytes;
  }

  /** Takes over the scenario of the server where it has changed, in a world that follows it. */
  #follow(): void {
    const { scenario } = this.#state;
    const source = this.#parts.activeSource();
    if (scenario.isChosen || scenario.source === source) return;
    const follow = { kind: 'follow', source } as const;
    apply(this.#state, follow, this.#stamp(follow), this.#parts.compiler);
  }

  #settle(): void {
    this.submit({ kind: 'settle' }).catch((error: unknown) => {
      if (!this.isClosed) this.#parts.observer.failed(this.id, error);
    });
  }
}
