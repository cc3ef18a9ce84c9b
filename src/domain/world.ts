import type { InitiateRequest, StatusQuery } from '../contract/payout.ts';
import type {
  BalanceOutcome,
  BookRef,
  InspectOutcome,
  Ledger,
  Settled,
  TransactionKey,
} from '../ledger/ledger.ts';
import { Attempts, type AttemptBudget } from './attempts.ts';
import { advance, freeze, resume, wallTimeMs, worldTimeMs, type WorldClock } from './clock.ts';
import type { Digest } from './identity.ts';
import { newPayout } from './new-payout.ts';
import {
  bothParameters,
  dropped,
  full,
  insufficient,
  neitherParameter,
  repeated,
  unknownTransaction,
} from './payout-refusals.ts';
import { planRequest, type Plan, type Planned } from './plan.ts';
import type { RuleUse } from './rule.ts';
import type { Scenario } from './scenario.ts';
import { asOf, born, type Change, type NewTransaction, type Transaction } from './transaction.ts';
import type { WallClock } from './wall-clock.ts';

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
}

interface Initiated {
  readonly transaction: Transaction;
  /** True when an earlier request made this payout, and this one changed nothing. */
  readonly replayed: boolean;
}

/** How many due steps are applied before other work gets its turn: some 5 ms. */
const STEPS_AT_ONCE = 2000;

/** All that one API key sees: a wallet, its transactions, and a clock of its own. */
export class World {
  readonly id: string;
  readonly #parts: WorldParts;
  readonly #book: BookRef;
  #clock: WorldClock;
  #alarm: { readonly dueMs: number; readonly cancel: () => void } | null = null;
  /** An advance under way. Every request of this world waits for it, so that none falls into the middle of it. */
  #advancing: Promise<unknown> | null = null;
  #closed = false;
  readonly #attempts: Attempts;
  readonly #ruleUses = new Map<string, RuleUse>();
  /** How to end the answers that this world still holds back. */
  readonly #held = new Set<() => void>();

  constructor(id: string, parts: WorldParts) {
    this.id = id;
    this.#parts = parts;
    this.#attempts = new Attempts(parts.attemptBudget);
    const { clock, openingBalancePaise } = parts.scenarioInForce();
    this.#clock = clock;
    this.#book = { worldId: id, openingBalancePaise, openedAtMs: this.nowMs };
  }

  /** World time, ms since the epoch. */
  get nowMs(): number {
    return worldTimeMs(this.#clock, this.#parts.wallClock.nowMs());
  }

  /** The scenario of this world. */
  get scenario(): Scenario {
    return this.#parts.scenarioInForce();
  }

  /** Decides what is to become of a request: takes the first rule of its scenario that matches, once. */
  plan(planned: Planned): Plan {
    const attemptOf = this.#attempts.next.bind(this.#attempts);
    return planRequest(planned, this.nowMs, this.#parts.digest, attemptOf, this.#ruleUses);
  }

  /**
   * Makes a payout: PENDING, its money taken from the balance, its timeline decided.
   *
   * @throws Refusal DUPLICATE_REFERENCE, REFERENCE_CONFLICT, INSUFFICIENT_BALANCE or SANDBOX_FULL; nothing is changed then
   */
  async initiate(request: InitiateRequest, plan: Plan): Promise<Initiated> {
    const { client_ref_id: rows } = plan.scenario.dialect;
    const options = { rememberInsufficient: rows.after_402 === 'remember' };
    for (let nth = 1; ; nth += 1) {
      while (this.#advancing !== null) await this.#advancing;
      const payout = this.#payout(request, plan, nth);
      const outcome = await this.#parts.ledger.initiate(this.#openBook, payout.createdAtMs, payout, options);
      this.#note(outcome);
      switch (outcome.kind) {
        case 'accepted':
          return { transaction: outcome.transaction, replayed: false };
        case 'insufficient':
          throw insufficient(outcome.balancePaise, payout.amountPaise, outcome.remembered);
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
    return born(this.#payout(request, plan, 1));
  }

  /**
   * Finds a payout by either name, or by both, as the dialect says.
   *
   * @throws Refusal INVALID_REQUEST, TRANSACTION_NOT_FOUND or TRANSACTION_UNKNOWN
   */
  async status({ client_ref_id: clientRefId, txn_id: txnId }: StatusQuery, plan: Plan): Promise<Transaction> {
    const { both, unknown } = plan.scenario.dialect.status;
    const isBoth = clientRefId !== undefined && txnId !== undefined;
    if (isBoth && both === 400) throw bothParameters();
    if (clientRefId === undefined && txnId === undefined) throw neitherParameter();
    while (this.#advancing !== null) await this.#advancing;
    const { nowMs } = this;
    const key: TransactionKey = {
      txnId: isBoth && both === 'client_ref_id' ? undefined : txnId,
      clientRefId: isBoth && both === 'txn_id' ? undefined : clientRefId,
    };
    const staleMs = plan.rule?.effect.staleMs ?? null;
    const asOfMs = staleMs === null ? null : nowMs - staleMs;
    const outcome = await this.#parts.ledger.find(this.#openBook, nowMs, key, asOfMs);
    this.#note(outcome);
    const { transaction, hiddenBy } = outcome;
    if (transaction === null) throw unknownTransaction(unknown, hiddenBy);
    return transaction;
  }

  async balance(): Promise<Pick<BalanceOutcome, 'balancePaise' | 'lastUpdatedMs'>> {
    while (this.#advancing !== null) await this.#advancing;
    const outcome = await this.#parts.ledger.balance(this.#openBook, this.nowMs);
    this.#note(outcome);
    return outcome;
  }

  /** The whole book, for an audit. */
  async inspect(): Promise<InspectOutcome> {
    while (this.#advancing !== null) await this.#advancing;
    const outcome = await this.#parts.ledger.inspect(this.#openBook, this.nowMs);
    this.#note(outcome);
    return outcome;
  }

  /** Stops the clock where it stands. */
  async freeze(): Promise<void> {
    while (this.#advancing !== null) await this.#advancing;
    this.#clock = freeze(this.#clock, this.#parts.wallClock.nowMs());
    this.#arm(null);
  }

  /** Lets the clock run on from where it stands. */
  async resume(): Promise<void> {
    while (this.#advancing !== null) await this.#advancing;
    this.#clock = resume(this.#clock, this.#parts.wallClock.nowMs());
    await this.#settle(1);
  }

  /**
   * Moves the clock forward, and resolves when all that came due has happened. Other requests of this world wait
   * for it; other worlds do not.
   *
   * @param byMs whole ms, 0 or more
   * @returns what changed, in the order in which it happened
   * @throws Refusal INVALID_REQUEST beyond the year 9999
   */
  async advance(byMs: number): Promise<readonly Change[]> {
    while (this.#advancing !== null) await this.#advancing;
    this.#clock = advance(this.#clock, byMs, this.#parts.wallClock.nowMs());
    this.#arm(null); // the alarm would take steps away from the list of changes
    const advancing = this.#settleAll(this.nowMs);
    this.#advancing = advancing.catch(() => undefined);
    try {
      const { changes, nextDueMs } = await advancing;
      this.#arm(nextDueMs);
      return changes;
    } finally {
      this.#advancing = null;
    }
  }

  /**
   * Holds an answer back, until the function that is returned is called.
   *
   * @param end called when the world ends before, or has ended already
   */
  hold(end: () => void): () => void {
    if (this.#closed) {
      end();
      return () => undefined;
    }
    this.#held.add(end);
    return () => this.#held.delete(end);
  }

  /** Ends the answers that are held back. */
  release(): void {
    for (const end of this.#held) end();
    this.#held.clear();
  }

  /** Ends the world: its timer is called off, its answers that are held back are ended, its book is dropped. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#arm(null);
    this.#attempts.clear();
    this.release();
    await this.#parts.ledger.drop(this.id);
  }

  /** Asked for in the same breath as the ledger, so that a world that was dropped never opens its book again. */
  get #openBook(): BookRef {
    if (this.#closed) throw dropped();
    return this.#book;
  }

  #payout(request: InitiateRequest, plan: Plan, nth: number): NewTransaction {
    return newPayout(request, plan, { digest: this.#parts.digest, worldId: this.id, nowMs: this.nowMs, nth });
  }

  async #settleAll(nowMs: number): Promise<Settled> {
    const changes: Change[] = [];
    for (;;) {
      const settled = await this.#parts.ledger.settle(this.#openBook, nowMs, STEPS_AT_ONCE);
      this.#announce(settled.changes);
      changes.push(...settled.changes);
      const { nextDueMs } = settled;
      if (nextDueMs === null || nextDueMs > nowMs) return { changes, nextDueMs };
      await this.#parts.wallClock.letOthersRun();
    }
  }

  async #settle(limit: number): Promise<void> {
    this.#note(await this.#parts.ledger.settle(this.#openBook, this.nowMs, limit));
  }

  /** After every ledger step: tells what has happened, and sets the alarm for what comes next. */
  #note({ changes, nextDueMs }: Settled): void {
    this.#announce(changes);
    this.#arm(nextDueMs);
  }

  #announce(changes: readonly Change[]): void {
    for (const change of changes) this.#parts.observer.settled(this.id, change);
  }

  /** Settlement is right without the alarm; it only announces a change at its time. */
  #arm(nextDueMs: number | null): void {
    const wallMs = this.#closed || nextDueMs === null ? null : wallTimeMs(this.#clock, nextDueMs);
    if (wallMs === null || nextDueMs === null) {
      this.#alarm?.cancel();
      this.#alarm = null;
    } else if (this.#alarm?.dueMs !== nextDueMs) {
      this.#alarm?.cancel();
      this.#alarm = { dueMs: nextDueMs, cancel: this.#parts.wallClock.alarm(wallMs, () => this.#ring()) };
    }
  }

  #ring(): void {
    this.#alarm = null;
    if (this.#closed) return;
    this.#settle(STEPS_AT_ONCE).catch((error: unknown) => this.#parts.observer.failed(this.id, error));
  }
}
