import { signal } from '@preact/signals';
import type { WorldEvent } from '../../client/event-stream.ts';
import type { RuleResponse, ScenarioResponse } from '../../contract/control-responses.ts';

type RuleUse = Extract<WorldEvent, { type: 'rule' }>['data'];

/** A scenario with the counts of its rules as the events of their uses report them. */
function afterUses(scenario: ScenarioResponse, uses: readonly RuleUse[]): ScenarioResponse {
  const byId = new Map(uses.map((use) => [use.rule, use]));
  const rules = scenario.rules.map((rule): RuleResponse => {
    const use = byId.get(rule.id);
    return use === undefined ? rule : { ...rule, matched: use.matched, taken: use.taken };
  });
  return { ...scenario, rules };
}

/** The scenario of a world with its rules: read when it has changed, and whenever a response may be older than what the page knows. */
export class LiveScenario {
  readonly current = signal<ScenarioResponse | null>(null);
  #isOld = true;
  #isReading = false;
  #actions = 0;

  /** Something has changed it: the next `read` reads it. */
  expire(): void {
    this.#isOld = true;
  }

  /** Takes what the page has read after an action of its own. */
  take(scenario: ScenarioResponse): void {
    this.current.value = scenario;
    this.#actions += 1;
    this.#isOld = true; // somebody else may have changed it since
  }

  takeUses(uses: readonly RuleUse[]): void {
    if (uses.length === 0) return;
    if (this.#isReading) this.#isOld = true;
    if (this.current.value !== null) this.current.value = afterUses(this.current.value, uses);
  }

  /** Reads it if it is old. What fails is read the next time. */
  async read(ask: () => Promise<ScenarioResponse>): Promise<void> {
    if (!this.#isOld) return;
    this.#isOld = false;
    this.#isReading = true;
    const actions = this.#actions;
    try {
      const scenario = await ask();
      if (actions === this.#actions) this.current.value = scenario;
    } catch (error) {
      this.#isOld = true;
      throw error;
    } finally {
      this.#isReading = false;
    }
  }
}
