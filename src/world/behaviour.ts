import type { Rule, RuleUse } from '../scenario/rule.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** How one world behaves: its scenario, the rules that were put on top of it, and how often each was used. */
export class Behaviour {
  readonly #inForce: () => Scenario;
  /** The scenario that this world has chosen; null while it follows the one in force. */
  #chosen: Scenario | null = null;
  /** The newest first. */
  #onTop: readonly Rule[] = [];
  readonly uses = new Map<string, RuleUse>();
  /** The scenario with the rules on top, made anew when either has changed. */
  #whole: { readonly of: Scenario; readonly scenario: Scenario } | null = null;

  /** @param inForce the scenario of every world that has not chosen another */
  constructor(inForce: () => Scenario) {
    this.#inForce = inForce;
  }

  /** The scenario without the rules on top. */
  get plain(): Scenario {
    return this.#chosen ?? this.#inForce();
  }

  /** What holds: the scenario with the rules on top of its own. */
  get scenario(): Scenario {
    return this.#withTop(this.plain);
  }

  /** The same rules on top of another scenario, for a request that chose it. */
  over(scenario: Scenario): Scenario {
    if (this.#onTop.length === 0) return scenario;
    const rules = [...this.#onTop, ...scenario.rules];
    return { ...scenario, rules, countsAttempts: rules.some(({ countsAttempts }) => countsAttempts) };
  }

  get hasChosen(): boolean {
    return this.#chosen !== null;
  }

  get onTop(): readonly Rule[] {
    return this.#onTop;
  }

  /** Chooses a scenario, or null to follow the one in force. Its rules count from the beginning. */
  choose(scenario: Scenario | null): void {
    this.#chosen = scenario;
    this.#whole = null;
    const kept = new Set(this.#onTop.map(({ id }) => id));
    for (const id of this.uses.keys()) if (!kept.has(id)) this.uses.delete(id);
  }

  /** Puts a rule first, in the place of one of the same name. It counts from the beginning. */
  put(rule: Rule): void {
    this.remove(rule.id);
    this.#onTop = [rule, ...this.#onTop];
  }

  /** Takes a rule on top away. @returns whether there was one */
  remove(id: string): boolean {
    const kept = this.#onTop.filter((rule) => rule.id !== id);
    const isThere = kept.length < this.#onTop.length;
    this.#onTop = kept;
    this.#whole = null;
    if (isThere) this.uses.delete(id);
    return isThere;
  }

  /** As a new world. */
  clear(): void {
    this.#onTop = [];
    this.choose(null);
  }

  #withTop(plain: Scenario): Scenario {
    if (this.#whole?.of !== plain) this.#whole = { of: plain, scenario: this.over(plain) };
    return this.#whole.scenario;
  }
}
