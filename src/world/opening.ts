import type { ScenarioSource } from '../contract/snapshot.ts';
import { openWallet } from '../payout/money.ts';
import { withOverrides, type ScenarioCompiler } from '../scenario/scenario.ts';
import type { Rule } from '../scenario/rule.ts';
import { noRequests } from './journal/kept-request.ts';
import { noneHeld, noAttempts, type WorldState } from './state-shape.ts';
import { nowMs, openIndex, startedClock } from './state.ts';

const newLedger = (openingBalancePaise: number, atMs: number) => ({
  openingBalancePaise,
  wallet: openWallet(openingBalancePaise),
  entries: [
    {
      kind: 'opening' as const,
      amountPaise: openingBalancePaise,
      balancePaise: openingBalancePaise,
      txnId: null,
      atMs,
    },
  ],
  payouts: [],
  stored: [],
  late: [],
  windows: new Map(), // a new ledger may begin at an earlier time
});

/** The generation of a new world; a reset and a restore begin another. */
export const FIRST_GENERATION = 1;

/** A new world that follows a scenario it has not chosen itself. */
export function openWorld(
  id: string,
  source: ScenarioSource,
  wallMs: number,
  compiler: ScenarioCompiler,
): WorldState {
  const base = compiler.scenario(source);
  const clock = startedClock(base.clock, wallMs);
  return {
    id,
    identity: id,
    generation: FIRST_GENERATION,
    wallMs,
    clock,
    scenario: { source, isChosen: false },
    overrides: [],
    uses: new Map(),
    attempts: noAttempts(),
    name: null,
    referee: { settings: null, ended: [] },
    requests: noRequests(),
    eventCount: 0,
    undoPoints: [],
    held: noneHeld(0),
    ...newLedger(base.openingBalancePaise, clock.atMs),
    index: openIndex(base),
  };
}

/** Starts the ledger again, at the world's time. Everything in it is lost. */
export function openLedger(state: WorldState, openingBalancePaise: number): void {
  const { base, overrides, active } = state.index;
  Object.assign(state, newLedger(openingBalancePaise, nowMs(state)));
  state.index = { ...openIndex(base), overrides, active };
}

/** Sets the scenario of the world, and the overrides. */
export function useScenario(
  state: WorldState,
  scenario: WorldState['scenario'],
  overrides: readonly unknown[],
  compiler: ScenarioCompiler,
): void {
  state.scenario = scenario;
  state.index.base = compiler.scenario(scenario.source);
  setOverrides(state, compiler.rules(overrides));
}

export function setOverrides(state: WorldState, overrides: readonly Rule[]): void {
  const { index } = state;
  state.overrides = overrides.map(({ document }) => document);
  index.overrides = overrides;
  index.active = withOverrides(index.base, overrides);
}

/** True while nothing has happened to the wallet since its opening. */
export const isUntouched = ({ entries, stored, late }: WorldState): boolean =>
  entries.length === 1 && stored.length === 0 && late.length === 0;
