import type { InitiateRequest, StatusQuery } from '../contract/payout.ts';
import type { StateHead } from '../contract/state.ts';
import type { BookPiece, Ledger, RestoreOutcome, TransactionKey } from '../ledger/ledger.ts';
import { Attempts, type AttemptBudget } from '../world/attempts.ts';
import { Behaviour } from '../world/behaviour.ts';
import { changeWire } from '../world/change-wire.ts';
import type { WorldClock } from '../world/clock.ts';
import { EventLog } from '../world/event-log.ts';
import type { Exchange } from '../world/exchange.ts';
import { HeldAnswers } from './held-answers.ts';
import type { HistoryBudget } from '../world/bounded-log.ts';
import type { Digest } from '../payout/identity.ts';
import { Journal } from '../world/journal.ts';
import { newPayout } from '../world/new-payout.ts';
import {
  bothParameters,
  full,
  insufficient,
  neitherParameter,
  repeated,
  unknownTransaction,
  type DropReason,
} from '../world/payout-refusals.ts';
import { planRequest, type Plan, type Planned } from '../scenario/plan.ts';
import type { Rule } from '../scenario/rule.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { asOf, born, type Change, type NewTransaction, type Transaction } from '../payout/payout.ts';
import type { WallClock } from './wall-clock.ts';
import { WorldBook } from './world-book.ts';
import type { WorldState } from '../world/world-state.ts';

/** Who is told what happens in worlds. */
export interface WorldObserver {
  settled(worldId: string, change: Change): void;
  /** A settlement that nobody waits for failed: our own fault. */
  failed(worldId: string, error: unknown): void;
}

/** What all worlds of a sandbox share. */
export interface WorldParts {
  /** The scenario of every world that has not chosen another; a reload of its file changes what it is. */
  readonly scenarioInForce: () => Scenario;
  readonly ledger: Ledger;
  readonly digest: Digest;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
  readonly attemptBudget: AttemptBudget;
  readonly historyBudget: HistoryBudget;
  /** How much the journal of one world may hold. */
  readonly journalLimits: { readonly items: number; readonly bytes: number };
}

interface Initiated {
  readonly transaction: Transaction;
  /** True when an earlier request made this payout, and this one changed nothing. */
  readonly replayed: boolean;
}

/** What a state that is restored needs beside its book. */
interface RestoredParts {
  readonly scenario: Scenario | null;
  readonly rules: readonly Rule[];
  readonly clock: WorldClock;
}

/** Where an operation writes down what it did to the balance. */
type Balances = Partial<Pick<Exchange, 'balanceBeforePaise' | 'balancePaise'>>;

/** All that one API key sees: a wallet, its transactions, and a clock of its own. */
export class World {
  readonly id: string;
  readonly book: WorldBook;
  readonly behaviour: Behaviour;
  readonly journal: Journal;
  readonly events: EventLog;
  /** The answers that rules hold back. */
  readonly held = new HeldAnswers();
  readonly #parts: WorldParts;
  readonly #attempts: Attempts;
  /** What its ids are made of: its own id, unless it was forked from another world. */
  #identity: string;
  #lives = 1;

  constructor(id: string, parts: WorldParts) {
    this.id = id;
    this.#identity = id;
    this.#parts = parts;
    this.#attempts = new Attempts(parts.attemptBudget);
    this.behaviour = new Behaviour(parts.scenarioInForce);
    this.journal = new Journal(parts.journalLimits, parts.historyBudget);
    this.events = new EventLog(parts.wallClock.nowMs(), parts.historyBudget);
    const { clock, openingBalancePaise } = parts.scenarioInForce();
    const observer = {
      settled: (change: Change) => this.#settled(change),
      failed: (error: unknown) => parts.observer.failed(id, error),
    };
    this.book = new WorldBook({ ...parts, observer }, id, openingBalancePaise, clock);
  }

  /** Goes up when the world becomes another: by a reset or a restore. */
  get lives(): number {
    return this.#lives;
  }

  /** World time, ms since the epoch. */
  get nowMs(): number {
    return this.book.nowMs;
  }

  /** The scenario of this world, with the rules on top. */
  get scenario(): Scenario {
    return this.behaviour.scenario;
  }

  /** Decides what is to become of a request: takes the first rule of its scenario that matches, once. */
  plan(planned: Planned): Plan {
    const attemptOf = this.#attempts.next.bind(this.#attempts);
    const plan = planRequest(planned, this.nowMs, this.#parts.digest, attemptOf, this.behaviour.uses);
    const { rule } = plan;
    if (rule !== null)
      this.events.publish('rule', () => ({ rule: rule.id, ...this.behaviour.uses.get(rule.id) }));
    return plan;
  }

  /**
   * Makes a payout: PENDING, its money taken from the balance, its timeline decided.
   *
   * @param balances where the balance before and after is written down
   * @throws Refusal DUPLICATE_REFERENCE, REFERENCE_CONFLICT, INSUFFICIENT_BALANCE or SANDBOX_FULL; nothing is changed then
   */
  async initiate(request: InitiateRequest, plan: Plan, balances: Balances = {}): Promise<Initiated> {
    const { client_ref_id: rows } = plan.scenario.dialect;
    const options = { rememberInsufficient: rows.after_402 === 'remember' };
    for (let nth = 1; ; nth += 1) {
      const outcome = await this.book.perform((ledger, book, nowMs) =>
        ledger.initiate(book, nowMs, this.#payout(request, plan, nowMs, nth), options),
      );
      weigh(balances, outcome);
      switch (outcome.kind) {
        case 'accepted':
          return { transaction: outcome.transaction, replayed: false };
        case 'insufficient':
          throw insufficient(outcome.balancePaise, request.amount, outcome.remembered);
        case 'full':
          throw full(outcome.maxTransactions);
        case 'repeated': {
          const { transaction, sameBody } = outcome;
          const choice = sameBody ? rows.same_body : rows.changed_body;
          if (choice === 400 || choice === 409) throw repeated(choice, transaction, sameBody);
          if (choice === 'replay') return { transaction, replayed: true };
          if (choice === 'first_answer') return { transaction: asOf(transaction, -Infinity), replayed: true };
          nth = transaction.nth; // a second payout: the next round makes the one after the latest
        }
      }
    }
  }

  /** The payout that a request would make, if it made one. Nothing is stored. */
  imagine(request: InitiateRequest, plan: Plan): Transaction {
    return born(this.#payout(request, plan, this.nowMs, 1));
  }

  /**
   * Finds a payout by either name, or by both, as the dialect says.
   *
   * @throws Refusal INVALID_REQUEST, TRANSACTION_NOT_FOUND or TRANSACTION_UNKNOWN
   */
  async status(
    { client_ref_id: clientRefId, txn_id: txnId }: StatusQuery,
    plan: Plan,
    balances: Balances = {},
  ): Promise<Transaction> {
    const { both, unknown } = plan.scenario.dialect.status;
    const isBoth = clientRefId !== undefined && txnId !== undefined;
    if (isBoth && both === 400) throw bothParameters();
    if (clientRefId === undefined && txnId === undefined) throw neitherParameter();
    const key: TransactionKey = {
      txnId: isBoth && both === 'client_ref_id' ? undefined : txnId,
      clientRefId: isBoth && both === 'txn_id' ? undefined : clientRefId,
    };
    const staleMs = plan.rule?.effect.staleMs ?? null;
    const outcome = await this.book.perform((ledger, book, nowMs) =>
      ledger.find(book, nowMs, key, staleMs === null ? null : nowMs - staleMs),
    );
    weigh(balances, outcome);
    const { transaction, hiddenBy } = outcome;
    if (transaction === null) throw unknownTransaction(unknown, hiddenBy);
    return transaction;
  }

  async balance(balances: Balances = {}): Promise<{ balancePaise: number; lastUpdatedMs: number }> {
    const outcome = await this.book.perform((ledger, book, nowMs) => ledger.balance(book, nowMs));
    weigh(balances, outcome);
    return outcome;
  }

  /** Chooses a scenario, or null to follow the one in force. A wallet that nothing has happened to is opened anew. */
  async choose(scenario: Scenario | null): Promise<void> {
    this.behaviour.choose(scenario);
    const { openingBalancePaise, name } = this.behaviour.plain;
    await this.book.reopen(openingBalancePaise, this.book.clock);
    this.events.publish('scenario', () => ({ scenario: name }));
  }

  /** Makes the world as new, at a cost that does not depend on what was in it. Answers that it holds back are ended. */
  async reset(): Promise<void> {
    this.#clear();
    const { clock, openingBalancePaise } = this.behaviour.plain;
    await this.book.renew(openingBalancePaise, clock);
    this.events.publish('reset', () => ({ now: new Date(this.nowMs).toISOString() }));
  }

  /** All that the future of this world depends on. */
  async state(): Promise<WorldState> {
    const inspected = await this.book.perform((ledger, ref, nowMs) => ledger.inspect(ref, nowMs));
    const { changes: _changes, nextDueMs: _nextDueMs, ...book } = inspected;
    const { plain, hasChosen, onTop, uses } = this.behaviour;
    return {
      identity: this.#identity,
      ...book,
      refused: [...book.refused],
      clock: this.book.clock,
      scenario: { name: plain.name, source: plain.source, isChosen: hasChosen },
      rules: onTop.map(({ document }) => document),
      uses: [...uses].map(([id, use]) => [id, { ...use }]),
      attempts: this.#attempts.counts,
    };
  }

  /**
   * Puts a state in the place of all that this world is, at once, when all of its pieces have come. Nothing changes if it
   * contradicts itself, or if a piece is not to be had.
   *
   * @param pieces its entries, then its transactions
   * @param make called after the last piece: the scenario and the rules of the state, compiled, and where its time goes on
   */
  restore(
    head: StateHead,
    pieces: Iterable<BookPiece> | AsyncIterable<BookPiece>,
    make: () => RestoredParts,
  ): Promise<RestoreOutcome> {
    return this.book.restore(head, pieces, () => {
      const { clock, scenario, rules } = make();
      const placed = (): void => {
        this.#clear();
        this.#identity = head.identity;
        this.behaviour.choose(scenario);
        for (const rule of rules.toReversed()) this.behaviour.put(rule);
        for (const [id, use] of head.uses) this.behaviour.uses.set(id, { ...use });
        this.#attempts.restore(head.attempts);
        this.events.publish('restore', () => ({ now: new Date(this.nowMs).toISOString() }));
      };
      return { clock, placed };
    });
  }

  /** Ends the world: its timer is called off, its answers that are held back are ended, its book is dropped. */
  async close(reason: DropReason): Promise<void> {
    this.#attempts.clear();
    this.held.close();
    this.events.close();
    this.journal.clear();
    await this.book.close(reason);
  }

  #clear(): void {
    this.#lives += 1;
    this.held.release();
    this.journal.clear();
    this.#attempts.clear();
    this.behaviour.clear();
    this.#identity = this.id;
  }

  #payout(request: InitiateRequest, plan: Plan, nowMs: number, nth: number): NewTransaction {
    return newPayout(request, plan, { digest: this.#parts.digest, worldId: this.#identity, nowMs, nth });
  }

  #settled(change: Change): void {
    this.#parts.observer.settled(this.id, change);
    this.events.publish('settlement', () => changeWire(change));
  }
}

function weigh(balances: Balances, outcome: { balanceBeforePaise: number; balancePaise: number }): void {
  balances.balanceBeforePaise ??= outcome.balanceBeforePaise;
  balances.balancePaise = outcome.balancePaise;
}
