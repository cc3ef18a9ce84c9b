import { createHash } from 'node:crypto';
import type { StateHead } from '../contract/state.ts';
import { frozenClock, type WorldClock } from '../world/clock.ts';
import { full } from '../world/payout-refusals.ts';
import type { Rule } from '../scenario/rule.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { WallClock } from '../log/wall-clock.ts';
import type { World } from '../log/world.ts';
import { piecesOf, stateInPieces, type Sum, type WorldState } from '../world/world-state.ts';
import { rulesOf, ScenarioError } from '../scenario/scenario-file.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import { readSnapshot, refused } from './snapshot-text.ts';

/** SHA-256, as 64 hexadecimal digits. */
export function sha256Sum(): Sum {
  const hash = createHash('sha256');
  return { add: (piece) => void hash.update(piece), total: () => hash.digest('hex') };
}

/** Where the clock of a restored world goes on: at the time of the snapshot, running or frozen as it was. */
const clockAt = ({ clock, nowMs }: StateHead, wallClock: WallClock): WorldClock =>
  clock.frozenAtMs === null
    ? { frozenAtMs: null, aheadMs: nowMs - wallClock.nowMs() }
    : frozenClock(clock.frozenAtMs);

/** Writes worlds down, and makes them of what was written. */
export class Snapshots {
  readonly #scenarios: ScenarioLibrary;
  readonly #wallClock: WallClock;

  constructor(scenarios: ScenarioLibrary, wallClock: WallClock) {
    this.#scenarios = scenarios;
    this.#wallClock = wallClock;
  }

  /** The state of a world as a JSON document, in pieces. */
  async write(world: World) {
    const state = await world.state();
    return {
      pieces: stateInPieces(state, sha256Sum()),
      items: state.entries.length + state.transactions.length,
    };
  }

  /**
   * Puts the text of a snapshot in the place of all that a world is. Its time goes on from that of the snapshot.
   *
   * @throws Refusal INVALID_JSON; STATE_REFUSED for one of another version, or damaged; SANDBOX_FULL. Nothing is changed then
   */
  async restore(world: World, text: Buffer): Promise<void> {
    const letOthersRun = (): Promise<void> => this.#wallClock.letOthersRun();
    const { head, pieces } = await readSnapshot(text, sha256Sum(), letOthersRun);
    const chosen = { ...head, scenario: { ...head.scenario, isChosen: true } };
    await this.#put(world, chosen, pieces, () => clockAt(head, this.#wallClock));
  }

  /** Puts a state in the place of all that a world is. @throws Refusal STATE_REFUSED or SANDBOX_FULL */
  put(world: World, state: WorldState): Promise<void> {
    return this.#put(world, state, piecesOf(state), () => state.clock);
  }

  async #put(
    world: World,
    head: StateHead,
    pieces: Parameters<World['restore']>[1],
    clock: () => WorldClock,
  ): Promise<void> {
    const outcome = await world.restore(head, pieces, () => ({ ...this.#made(head), clock: clock() }));
    if (outcome.kind === 'full') throw full(outcome.maxTransactions);
    if (outcome.kind === 'damaged') throw refused(`This snapshot contradicts itself: ${outcome.what}`);
  }

  #made({ scenario: { name, source, isChosen }, rules }: StateHead): {
    scenario: Scenario | null;
    rules: readonly Rule[];
  } {
    try {
      const settings = source.settings;
      return {
        scenario: isChosen ? this.#scenarios.compile(source.document, `${name}.json`, settings) : null,
        rules: rulesOf(rules, 'world'),
      };
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      throw refused(`The scenario of this snapshot cannot be used here: ${error.lines.join('; ')}`);
    }
  }
}
