import type { Rule } from '../../scenario/rule.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { ScenarioError } from '../../scenario/scenario-file.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import { wrongRequest } from './checked-request.ts';

/** What is wrong with a document that somebody sent, as a refusal. */
function refusing<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const errors = error.problems.map(({ path, message }) => {
      const field = path === '' ? 'body' : path;
      return { field, message: `${field} ${message()}` };
    });
    throw wrongRequest(errors, error.more);
  }
}

/** The scenarios as the control API has them: what is wrong with a document is the caller's fault. */
export class ControlScenarios {
  readonly #library: ScenarioLibrary;

  constructor(library: ScenarioLibrary) {
    this.#library = library;
  }

  get active(): Scenario {
    return this.#library.active;
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
    return refusing(() => this.#library.rule(document));
  }
}
