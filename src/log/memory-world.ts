import { Refusal } from '../contract/errors.ts';
import type { Change } from '../payout/payout.ts';
import { apply, type Applied, type ResultOf } from '../world/apply.ts';
import { isReplacing, isUse, type Command, type Stamp } from '../world/commands.ts';
import { eventData } from '../world/events.ts';
import { journalEntry, type Exchange } from '../world/journal/exchange.ts';
import type { MemoryBudget } from '../world/journal/bounded-log.ts';
import { Journal } from '../world/journal/journal.ts';
import { nextDueMsOf } from '../world/ledger.ts';
import { openWorld, worldTimeMs, type WorldState } from '../world/state.ts';
import { CommandParts } from './command-parts.ts';
import { EventLog, type EventReader } from './event-log.ts';
import { Releases } from './releases.ts';
import { demandRoom, sizeOf, NOTHING, type WorldSize, type Totals } from './totals.ts';
import { SettlementTimer } from './wall-clock.ts';
import { dropped, DelayedAnswers, type DropReason, type LogOptions, type WorldHandle } from './world-log.ts';

/** What the worlds of a log in memory share. */
export interface MemoryWorldOptions extends LogOptions {
  readonly journalBudget: MemoryBudget;
}

type OnChanges = (changes: readonly Change[]) => void;

/** A world in the memory of this process. A command is atomic because nothing in it waits. */
export class MemoryWorld implements WorldHandle {
  readonly id: string;
  readonly openedAtMs: number;
  usedAtMs: number;
  readonly delayed = new DelayedAnswers();
  readonly releases = new Releases();
  readonly journal: Journal;
  /** Null until the first reader comes, so that a world without readers keeps no events. */
  #events: EventLog | null = null;
  readonly #state: WorldState;
  readonly #options: MemoryWorldOptions;
  readonly #totals: Totals;
  /** What it adds to the totals. */
  #size = NOTHING;
  readonly #timer: SettlementTimer;
  readonly #commandParts: CommandParts;
  #closed: DropReason | null = null;

  constructor(id: string, options: MemoryWorldOptions, totals: Totals) {
    const { wallClock, compiler, activeSource, journalBudget, journalLimits } = options;
    this.id = id;
    this.#options = options;
    this.#totals = totals;
    this.openedAtMs = wallClock.nowMs();
    this.usedAtMs = this.openedAtMs;
    this.#state = openWorld(id, activeSource(), this.openedAtMs, compiler);
    this.#timer = new SettlementTimer(wallClock, () => this.#settle());
    this.#commandParts = new CommandParts(wallClock);
    this.journal = new Journal(journalLimits, journalBudget);
  }

  get latest(): Readonly<WorldState> {
    this.#follow();
    return this.#state;
  }

  get nowMs(): number {
    const { clock, wallMs } = this.#state;
    return worldTimeMs(clock, Math.max(wallMs, this.#options.wallClock.nowMs()));
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  submit<C extends Command>(command: C, onChanges?: OnChanges): Promise<ResultOf<C>> {
    return this.#commandParts.submit(command, (part) => this.#apply(part, onChanges));
  }

  async read<T>(look: (state: Readonly<WorldState>) => T): Promise<T> {
    await this.submit({ kind: 'settle' });
    return look(this.#state);
  }

  watch(afterId: string | undefined, reader: EventReader): () => void {
    const { wallClock, journalBudget } = this.#options;
    this.#events ??= new EventLog(wallClock.nowMs(), journalBudget);
    if (this.#events.isFull) throw new Refusal('TOO_MANY_READERS');
    return this.#events.read(afterId, reader);
  }

  announce(exchange: Exchange): void {
    this.#events?.publish('request', () => journalEntry(exchange));
  }

  /** Ends the world, with its timer, its delayed answers, its readers and its journal. */
  close(reason: DropReason): void {
    this.#closed = reason;
    this.#setSize(NOTHING);
    this.#timer.set(null, this.#state.clock);
    this.delayed.close();
    this.#events?.close();
    this.journal.clear();
  }

  /** Ends the delayed answers and the readers, when the sandbox stops. */
  release(): void {
    this.delayed.release(true);
    this.#events?.close();
  }

  #apply(command: Command, onChanges?: OnChanges): Applied {
    if (this.#closed !== null) throw dropped(this.#closed);
    this.#follow();
    const outcome = apply(this.#state, command, this.#stamp(command), this.#options.compiler);
    if (outcome.kind === 'done' && isReplacing(command)) {
      this.delayed.release();
      this.releases.clear();
      this.journal.clear();
    }
    this.#setSize(sizeOf(this.#state));
    const changes: Change[] = [];
    for (const event of outcome.events) {
      if (event.type === 'settlement') {
        changes.push(event.change);
        this.#options.observer.settled(this.id, event.change);
      }
      this.releases.take(event, true);
      this.#events?.publish(event.type, () => eventData(event));
    }
    onChanges?.(changes);
    this.#timer.set(nextDueMsOf(this.#state), this.#state.clock);
    return outcome;
  }

  /** @throws Refusal SANDBOX_FULL without enough room for a restore */
  #stamp(command: Command): Stamp {
    const { recordsFree, attemptsFree, documentBytesFree, limits } = this.#totals;
    const { maxRecords } = limits;
    // counted here too, since a body may come long after its key; a settlement is not a use
    if (isUse(command)) this.#totals.uses += 1;
    if (command.kind === 'restore') {
      const room = {
        records: recordsFree + this.#size.records,
        documentBytes: documentBytesFree + this.#size.documentBytes,
      };
      demandRoom(sizeOf(command.state), room, maxRecords);
    }
    const wallMs = this.#options.wallClock.nowMs();
    return { wallMs, maxRecords, recordsFree, attemptsFree, documentBytesFree };
  }

  #setSize(size: WorldSize): void {
    this.#totals.replace(this.#size, size);
    this.#size = size;
  }

  /** Updates a world that follows the scenario of the server when that has changed. */
  #follow(): void {
    const { scenario } = this.#state;
    const source = this.#options.activeSource();
    if (scenario.isChosen || scenario.source === source) return;
    const follow = { kind: 'follow', source } as const;
    apply(this.#state, follow, this.#stamp(follow), this.#options.compiler);
  }

  #settle(): void {
    this.submit({ kind: 'settle' }).catch((error: unknown) => {
      if (!this.isClosed) this.#options.observer.failed(this.id, error);
    });
  }
}
