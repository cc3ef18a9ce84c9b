import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { useScenario } from './opening.ts';
import { openIndex, indexPayout, type WorldState } from './state.ts';

/** A state that no command changes, without what follows from the rest, and what can be undone. */
export type FrozenState = Omit<WorldState, 'index' | 'undoPoints'>;

/** A copy that later commands do not change. It copies lists of references, and nothing that they refer to. */
export const freeze = ({
  index: _index,
  undoPoints: _undoPoints,
  ...state
}: FrozenState & Partial<WorldState>): FrozenState => ({
  ...state,
  ...copyOfCounts(state),
  requests: { ...state.requests, list: state.requests.list.slice(), pending: state.requests.pending.slice() },
  entries: state.entries.slice(),
  payouts: state.payouts.slice(),
  refused: new Set(state.refused),
});

/** What a world counts. */
type Counts = Pick<WorldState, 'uses' | 'windows' | 'attempts'>;

/** A copy of what a world counts, in which a request can be counted without changing the world. */
export const copyOfCounts = ({ uses, windows, attempts }: Counts): Counts => ({
  uses: new Map([...uses].map(([id, use]) => [id, { ...use }])),
  windows: new Map(windows),
  attempts: {
    ...attempts,
    recent: new Map(attempts.recent),
    older: new Map(attempts.older),
    former: null,
  },
});

const PAYOUTS_AT_ONCE = 2000;

/** Makes a state that commands can change from a frozen one. A large one takes long, so that others need a turn at each step. */
export function* thaw(frozen: FrozenState, compiler: ScenarioCompiler): Generator<void, WorldState> {
  const { scenario, overrides } = frozen;
  const index = openIndex(compiler.scenario(scenario.source));
  const state: WorldState = { ...freeze(frozen), undoPoints: [], index };
  useScenario(state, scenario, overrides, compiler);
  for (const [position, payout] of state.payouts.entries()) {
    indexPayout(state, payout, position);
    if (position % PAYOUTS_AT_ONCE === PAYOUTS_AT_ONCE - 1) yield;
  }
  return state;
}
