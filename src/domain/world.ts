import { Refusal } from '../contract/errors.ts';
import type { InitiateRequest, StatusQuery } from '../contract/payout.ts';
import type { BalanceOutcome, BookRef, InspectOutcome, Ledger, Settled } from '../ledger/ledger.ts';
import { advance, freeze, resume, wallTimeMs, worldTimeMs, type WorldClock } from './clock.ts';
import { DEFAULT_DIALECT } from './dialect.ts';
import { fingerprintOf, payoutDraw, payoutIds, type Digest } from './identity.ts';
import { toInr, toPaise } from './money.ts';
import { planTimeline, type Settlement } from './settlement.ts';
import type { Change, NewTransaction, Transaction } from './transaction.ts';
import type { WallClock } from './wall-clock.ts';
import { warningsFor } from './warnings.ts';

/** How the worlds of a sandbox behave. */
export interface Scenario {
  readonly openingBalancePaise: number;
  readonly seed: string;
  readonly settlement: Settlement;
  /** Where the clock of a new world stands; or, running, how far it is ahead of wall time. */
  readonly clock: WorldClock;
}

/** Who is told what happens in worlds. */
export interface WorldObserver {
  settled(worldId: string, change: Change): void;
  /** A settlement that nobody waits for failed: our own fault. */
  failed(worldId: string, error: unknown): void;
}

/** What all worlds of a sandbox share. */
export interface WorldParts {
  readonly scenario: Scenario;
  readonly ledger: Ledger;
  readonly digest: Digest;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
}

interface Initiated {
  readonly transaction: Transaction;
  /** True when an earlier request made this payout, and this one changed nothing. */
  readonly replayed: boolean;
  /** What a real bank might refuse in the request, in words fit for a header. */
  readonly warnings: readonly string[];
}

/** How many due steps are applied before other work gets its turn: some 5 ms. */
const STEPS_AT_ONCE = 2000;

const FIRST_PAYOUT = 1; // of its reference: the default dialect makes no second

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

  constructor(id: string, parts: WorldParts) {
    this.id = id;
    this.#parts = parts;
    this.#clock = parts.scenario.clock;
    const { openingBalancePaise } = parts.scenario;
    this.#book = { worldId: id, openingBalancePaise, openedAtMs: this.nowMs };
  }

  /** World time, ms since the epoch. */
  get nowMs(): number {
    return worldTimeMs(this.#clock, this.#parts.wallClock.nowMs());
  }

  /**
   * Makes a payout: PENDING, its money taken from the balance, its timeline decided.
   *
   * @throws Refusal DUPLICATE_REFERENCE, INSUFFICIENT_BALANCE or SANDBOX_FULL; nothing is changed then
   */
  async initiate(request: InitiateRequest): Promise<Initiated> {
    while (this.#advancing !== null) await this.#advancing;
    const payout = this.#plan(request, this.nowMs);
    const outcome = await this.#parts.ledger.initiate(this.#openBook, payout.createdAtMs, payout);
    this.#note(outcome);
    const warnings = warningsFor(request);
    switch (outcome.kind) {
      case 'accepted':
        return { transaction: outcome.transaction, replayed: false, warnings };
      case 'repeated':
        if (!outcome.sameBody) throw changedBody(outcome.transaction);
        return { transaction: outcome.transaction, replayed: true, warnings };
      case 'insufficient':
        throw insufficient(outcome.balancePaise, payout.amountPaise);
      case 'full':
        throw full(outcome.maxTransactions);
    }
  }

  /**
   * Finds a payout by either name; by both, only when they name the same one.
   *
   * @param query at least one of the two
   * @throws Refusal INVALID_REQUEST for neither, TRANSACTION_NOT_FOUND
   */
  async status({ client_ref_id: clientRefId, txn_id: txnId }: StatusQuery): Promise<Transaction> {
    if (clientRefId === undefined && txnId === undefined) throw neitherParameter();
    while (this.#advancing !== null) await this.#advancing;
    const key = txnId === undefined ? { clientRefId: clientRefId! } : { txnId };
    const outcome = await this.#parts.ledger.find(this.#openBook, this.nowMs, key);
    this.#note(outcome);
    const { transaction } = outcome;
    if (transaction === null || (clientRefId !== undefined && transaction.clientRefId !== clientRefId)) {
      throw new Refusal(DEFAULT_DIALECT.unknownTransaction);
    }
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

  /** Ends the world: its timer is called off, its book is dropped. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#arm(null);
    await this.#parts.ledger.drop(this.id);
  }

  /** Asked for in the same breath as the ledger, so that a world that was dropped never opens its book again. */
  get #openBook(): BookRef {
    if (this.#closed) throw dropped();
    return this.#book;
  }

  #plan(request: InitiateRequest, nowMs: number): NewTransaction {
    const { digest, scenario } = this.#parts;
    const { client_ref_id: clientRefId, transfer_mode: transferMode } = request;
    const amountPaise = toPaise(request.amount);
    const draw = payoutDraw(digest, scenario.seed, clientRefId, FIRST_PAYOUT);
    return {
      ...payoutIds(digest, scenario.seed, this.id, clientRefId, FIRST_PAYOUT),
      clientRefId,
      fingerprint: fingerprintOf(digest, [
        request.beneficiary_name,
        request.beneficiary_account,
        request.beneficiary_ifsc,
        amountPaise,
        transferMode,
        request.remarks ?? null,
      ]),
      amountPaise,
      transferMode,
      beneficiaryName: request.beneficiary_name,
      beneficiaryAccount: request.beneficiary_account,
      beneficiaryIfsc: request.beneficiary_ifsc,
      createdAtMs: nowMs,
      timeline: planTimeline(scenario.settlement, transferMode, nowMs, draw),
    };
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

const changedBody = (earlier: Transaction): Refusal =>
  new Refusal(DEFAULT_DIALECT.changedBody, {
    message: `This client_ref_id was used before, for another payout (${earlier.txnId})`,
    errors: [{ field: 'client_ref_id', message: 'client_ref_id was used before, with other values' }],
  });

const insufficient = (balancePaise: number, amountPaise: number): Refusal =>
  new Refusal('INSUFFICIENT_BALANCE', {
    message: `The wallet balance of INR ${toInr(balancePaise)} cannot cover a payout of INR ${toInr(amountPaise)}`,
  });

const full = (maxTransactions: number): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message: `The sandbox holds ${maxTransactions} transactions, as many as SANDBOX_MAX_TRANSACTIONS allows`,
    limit: 'SANDBOX_MAX_TRANSACTIONS',
  });

const dropped = (): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message:
      'This world was dropped while the request waited, to make room for newer ones (SANDBOX_MAX_WORLDS)',
    limit: 'SANDBOX_MAX_WORLDS',
  });

const neitherParameter = (): Refusal =>
  new Refusal('INVALID_REQUEST', {
    errors: [
      { field: 'client_ref_id', message: 'client_ref_id or txn_id is required' },
      { field: 'txn_id', message: 'client_ref_id or txn_id is required' },
    ],
  });
