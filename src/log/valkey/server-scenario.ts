import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import type { WorldState } from '../../world/state.ts';
import { KEY_PREFIX } from './scripts/scripts.ts';
import type { StoreConnection } from './store-connection.ts';

/** The scenario and settings of this server, which a reload of a file may change. */
export class ServerScenario {
  readonly #activeSource: () => ScenarioSource;
  /** The former scenarios of this server, as JSON. */
  readonly #former = new Set<string>();
  #latest: ScenarioSource;

  constructor(activeSource: () => ScenarioSource) {
    this.#activeSource = activeSource;
    this.#latest = activeSource();
  }

  /** Warns when the server that started before this one had others, since worlds keep theirs. */
  async compare(store: StoreConnection): Promise<void> {
    const text = JSON.stringify(this.#activeSource());
    try {
      const before = await store.client.set(`${KEY_PREFIX}scenario`, text, 'GET');
      if (before === null || before === text) return;
      store.warn(
        'another server had another scenario or other settings: each world uses those of the server that opened or reset it',
      );
    } catch {
      // the store is unavailable; each world will still bring its own
    }
  }

  /** The scenario that a world should follow now, since it still follows a former one of this server; null for none. */
  successorOf({ scenario }: WorldState): ScenarioSource | null {
    const active = this.#activeSource();
    if (active !== this.#latest) {
      this.#former.add(JSON.stringify(this.#latest));
      this.#former.delete(JSON.stringify(active));
      this.#latest = active;
    }
    if (scenario.isChosen || this.#former.size === 0) return null;
    return this.#former.has(JSON.stringify(scenario.source)) ? active : null;
  }
}
