import type { Entry, Payout } from '../contract/snapshot.ts';
import { full, noRoomForRules, Refusal } from '../contract/errors.ts';
import { MAX_AMOUNT_INR, type State } from '../contract/service.ts';
import { covers, credit, debit, hasRoom, toInr } from '../payout/money.ts';
import { legalNext, mayMove, withForcedStep } from '../payout/timeline.ts';
import { listed } from '../contract/words.ts';
import { tooManyPatterns } from '../scenario/pattern.ts';
import type { Rule } from '../scenario/rule.ts';
import type { Handler } from './commands.ts';
import { setClock } from './clock.ts';
import { noneHeld, noAttempts, type WorldState } from './state-shape.ts';
import { positionOf, recordEntry, takeStep, unknownTxnId } from './ledger.ts';
import { noRequests, type KeptRequest } from './journal/kept-request.ts';
import { openLedger, setOverrides, useScenario, isUntouched } from './opening.ts';
import { nowMs, replacePayout, clockFrom, startedClock } from './state.ts';

/** The operations of the control API on a world, except those on its clock. */

export const MAX_OVERRIDES = 100;

/** Credits or debits the wallet. @throws Refusal INSUFFICIENT_BALANCE, WALLET_FULL or SANDBOX_FULL */
export const moveMoney: Handler<'credit' | 'debit', Entry> = (
  state,
  { kind, amountPaise },
  { stamp, transactionsFree, events },
) => {
  const { wallet } = state;
  const held = `INR ${toInr(wallet.balancePaise)}`;
  if (kind === 'debit' && !covers(wallet, amountPaise)) {
    throw new Refusal('INSUFFICIENT_BALANCE', {
      message: `The wallet holds ${held}, which is less than INR ${toInr(amountPaise)}`,
    });
  }
  if (kind === 'credit' && !hasRoom(wallet, amountPaise)) {
    throw new Refusal('WALLET_FULL', {
      message: `The wallet can hold at most INR ${MAX_AMOUNT_INR} together with its payouts, whose money may come back: it holds ${held}, and they hold INR ${toInr(wallet.paidOutPaise)}`,
    });
  }
  if (transactionsFree <= 0) throw full(stamp.room.maxTransactions);
  state.wallet = (kind === 'credit' ? credit : debit)(wallet, amountPaise);
  const entry = recordEntry(state, kind, kind === 'credit' ? amountPaise : -amountPaise, null, nowMs(state));
  events.push({ type: 'wallet', entry });
  return entry;
};

/** Forces a payout into a state, and cancels its steps. @throws Refusal TRANSACTION_NOT_FOUND or ILLEGAL_TRANSITION */
export const forceTransition: Handler<'transition', Payout> = (state, { txnId, to }, { events }) => {
  const position = positionOf(state, { txnId });
  if (position === undefined) throw unknownTxnId(txnId);
  const payout = state.payouts[position]!;
  if (!mayMove(payout.state, to)) throw illegalTransition(payout, to);
  const utr = to !== 'FAILED' || state.index.active.dialect.status.utr_of_failed === 'set';
  replacePayout(state, position, withForcedStep(payout, to, nowMs(state), utr, state.requests.count));
  takeStep(state, position, nowMs(state), events);
  return state.payouts[position]!;
};

function illegalTransition({ txnId, state }: Payout, to: State): Refusal {
  const legal = legalNext(state);
  const choice = legal.length === 0 ? `${state} is final` : `it can only become ${listed(legal, 'or')}`;
  return new Refusal('ILLEGAL_TRANSITION', {
    message: `${txnId} is ${state} and cannot become ${to}: ${choice}`,
    errors: [{ field: 'to', message: choice }],
  });
}

/** Chooses a scenario. Its rules count from 0; only a world with an unused wallet gets its balance and its clock. @throws Refusal SANDBOX_FULL */
export const chooseScenario: Handler<'choose'> = (
  state,
  { source, isChosen },
  { compiler, events, stamp },
) => {
  const held = state.scenario.isChosen ? state.index.base.size : 0;
  if (isChosen && compiler.scenario(source).size > stamp.room.rulesFree + held) throw noRoomForRules();
  useScenario(state, { source, isChosen }, state.overrides, compiler);
  const { base, overrides } = state.index;
  const isOnTop = (id: string): boolean => overrides.some((rule) => rule.id === id);
  for (const id of [...state.uses.keys(), ...state.windows.keys()]) if (!isOnTop(id)) forgetCounts(state, id);
  if (isUntouched(state)) {
    if (base.hasOwnClock) setClock(state, startedClock(base.clock, state.wallMs), events);
    openLedger(state, base.openingBalancePaise);
  }
  events.push({ type: 'scenario', scenario: base.name });
};

export const followScenario: Handler<'follow'> = (state, { source }, { compiler }) =>
  useScenario(state, { source, isChosen: false }, state.overrides, compiler);

function forgetCounts({ uses, windows }: WorldState, id: string): void {
  uses.delete(id);
  windows.delete(id);
}

/** Adds an override before the others, or behind them, replacing one of the same name. It counts from 0. @returns its id: `world/NAME` */
export const putRule: Handler<'putRule', string> = (
  state,
  { rule: document, last: isLast = false },
  { compiler, events, stamp },
) => {
  const { base, overrides } = state.index;
  const rule = compiler.rules([{ name: freeRuleName(overrides), ...document }])[0]!;
  const others = overrides.filter(({ id }) => id !== rule.id);
  if (others.length === overrides.length && stamp.room.rulesFree <= 0) throw noRoomForRules();
  const excess = tooManyPatterns([rule, ...others].map(({ match }) => match));
  if (excess !== null) {
    const message = `match ${excess}`;
    throw new Refusal('INVALID_REQUEST', { message, errors: [{ field: 'match', message }] });
  }
  if (others.length >= MAX_OVERRIDES) {
    throw new Refusal('TOO_MANY_RULES', {
      message: `A world can have ${MAX_OVERRIDES} overrides: remove some with DELETE /_sandbox/rules/NAME`,
    });
  }
  forgetCounts(state, rule.id);
  setOverrides(state, isLast ? [...others, rule] : [rule, ...others]);
  events.push({ type: 'scenario', scenario: base.name, rule: rule.id });
  return rule.id;
};

function freeRuleName(overrides: readonly Rule[]): string {
  const taken = new Set(overrides.map(({ id }) => id));
  for (let nth = 1; ; nth += 1) if (!taken.has(`world/rule-${nth}`)) return `rule-${nth}`;
}

/** Removes an override, or all of them. @throws Refusal RULE_NOT_FOUND */
export const removeRule: Handler<'removeRule'> = (state, { name }, { events }) => {
  const { base, overrides } = state.index;
  const removed = overrides.filter(({ id }) => name === null || id === `world/${name}`);
  if (name !== null && removed.length === 0) throw noRule(name, overrides);
  for (const { id } of removed) forgetCounts(state, id);
  setOverrides(
    state,
    overrides.filter((rule) => !removed.includes(rule)),
  );
  events.push({ type: 'scenario', scenario: base.name });
};

function noRule(name: string, overrides: readonly Rule[]): Refusal {
  const names = overrides.map(({ id }) => id.slice(id.indexOf('/') + 1));
  const there =
    names.length === 0
      ? 'This world has no overrides'
      : `This world has no override ${name}, only ${names.join(', ')}`;
  return new Refusal('RULE_NOT_FOUND', { message: `${there}. Rules of a scenario cannot be removed` });
}

/** Drops the older half of the list, or clears it but for the requests under way, whose ends say what their clients know. @returns how many are gone */
export const forgetRequests: Handler<'forget', number> = (state, { as }, { events }) => {
  const { list, pending, count, evicted } = state.requests;
  const kept =
    as === 'evicted'
      ? list.slice(Math.ceil(list.length / 2))
      : list.filter(({ outcome }) => outcome === 'pending');
  const gone = list.length - kept.length;
  state.requests = {
    ...noRequests(count),
    list: kept,
    pending,
    evicted: as === 'evicted' ? evicted + gone : 0,
  };
  if (gone > 0) events.push({ type: 'journal', removed: gone, as });
  return gone;
};

/** Starts the world again, following the scenario of the server. @returns what it was */
export const resetWorld: Handler<'reset', WorldState> = (state, { source }, { compiler, events }) => {
  const former = { ...state };
  useScenario(state, { source, isChosen: false }, [], compiler);
  const { base } = state.index;
  state.generation += 1;
  state.identity = state.id;
  state.uses = new Map();
  state.attempts = noAttempts();
  state.requests = noRequests(state.requests.count);
  state.held = noneHeld(state.held.made);
  state.clock = startedClock(base.clock, state.wallMs);
  openLedger(state, base.openingBalancePaise);
  events.push({ type: 'reset', nowMs: nowMs(state) });
  return former;
};

export const nameWorld: Handler<'name'> = (state, { name }) => {
  state.name = name;
};

/** Gives the referee its settings for this world, or its reports. */
export const instructReferee: Handler<'referee'> = (state, { settings, ended }) => {
  const { referee } = state;
  state.referee = { settings: settings ?? referee.settings, ended: ended ?? referee.ended };
};

/** Replaces all of the world with a state that was read and checked. */
export const restoreWorld: Handler<'restore'> = (state, { state: restored, clock }, { events }) => {
  const { id, wallMs, requests, generation, held, name, referee, eventCount, undoPoints } = state;
  const made = Math.max(held.made, restored.held.made); // an id is never given twice either
  // a machine whose clock was set back must not turn world time back
  const continues = clock === 'from-snapshot' || wallMs < restored.wallMs;
  Object.assign(state, restored, {
    id,
    requests: {
      ...fromElsewhere(restored),
      count: Math.max(requests.count, restored.requests.count), // a number is never given twice
    },
    name: name ?? restored.name,
    referee: referee.settings === null && referee.ended.length === 0 ? restored.referee : referee,
    generation: generation + 1,
    eventCount,
    undoPoints,
    held: noneHeld(made),
    wallMs,
    clock: continues ? clockFrom(nowMs(restored), wallMs, restored.clock.speed) : restored.clock,
  });
  events.push({ type: 'restore', nowMs: nowMs(state) });
};

/**
 * Requests whose places in a log mean nothing here. The client of one that was under way is not connected to this world, and gets
 * no response from it.
 */
function fromElsewhere({
  requests,
  wallMs,
}: Pick<WorldState, 'requests' | 'wallMs'>): WorldState['requests'] {
  const last = requests.list.at(-1)?.nth;
  const list = requests.list.map((request): KeptRequest => {
    const known = { ...request, position: 0, server: '' };
    if (request.outcome !== 'pending') return known;
    const durationMs = Math.max(0, wallMs - request.wallMs); // it has waited so long at least
    const left = { outcome: 'client_gone', response: undefined, waits: undefined } as const;
    return { ...known, ...left, durationMs, endedAfter: last };
  });
  return { ...requests, list, pending: [] };
}
