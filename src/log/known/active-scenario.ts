import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import type { WorldState } from '../../world/state.ts';

/** The scenario of this server, which the worlds follow that chose no other. */
export class ActiveScenario {
  readonly #active: () => ScenarioSource;
  readonly #isShared: boolean;
  /** The former ones, as JSON, and the latest. */
  readonly #former = new Set<string>();
  #latest: ScenarioSource;

  /** @param isShared whether the worlds may follow the scenario of another server */
  constructor(active: () => ScenarioSource, isShared: boolean) {
    this.#active = active;
    this.#isShared = isShared;
    this.#latest = active();
  }

  /** The scenario that a world should follow, since it follows a former one of this server; null for none. */
  successorOf({ scenario }: WorldState): ScenarioSource | null {
    const active = this.#active();
    if (scenario.isChosen || scenario.source === active) return null;
    if (!this.#isShared) return active;
    if (active !== this.#latest) {
      this.#former.add(JSON.stringify(this.#latest));
      this.#former.delete(JSON.stringify(active));
      this.#latest = active;
    }
    if (this.#former.size === 0) return null;
    return this.#former.has(JSON.stringify(scenario.source)) ? active : null;
  }
}
