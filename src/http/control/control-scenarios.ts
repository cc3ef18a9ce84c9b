import { Refusal } from '../../contract/errors.ts';
import type { Rule } from '../../scenario/rule.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { ruleOf, ScenarioError } from '../../scenario/scenario-file.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';

/** What is wrong with a document that somebody sent, as a refusal. */
function refusing<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const errors = error.problems.map(({ path, message }) => {
      const field = path === '' ? 'body' : path;
      return { field, message: `${field} ${message}` };
    });
    const message = errors.length > 0 ? errors.map((one) => one.message).join('; ') : error.message;
    throw new Refusal('INVALID_REQUEST', { message, errors });
  }
}

/** The scenarios as the control API has them: what is wrong with a document is the caller's fault. */
export class ControlScenarios {
  readonly #library: ScenarioLibrary;

  constructor(library: ScenarioLibrary) {
    this.#library = library;
  }

  get inForce(): Scenario {
    return this.#library.inForce;
  }

  get names(): readonly string[] {
    return this.#library.names;
  }

  get all(): readonly Scenario[] {
    return this.#library.all;
  }

  get(name: string): Scenario | undefined {
    return this.#library.get(name);
  }

  compile(document: unknown): Scenario {
    return refusing(() => this.#library.compile(document));
  }

  compileRule(document: unknown): Rule {
    return refusing(() => ruleOf(document, 'world'));
  }
}
