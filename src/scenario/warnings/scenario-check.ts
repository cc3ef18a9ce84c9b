import type { ScenarioInput } from '../../contract/control.ts';
import { reported } from '../../contract/shape-issues.ts';
import { inOrder, ScenarioError, textScenario } from '../scenario-file.ts';
import type { ScenarioSettings } from '../../contract/snapshot-lines.ts';
import { atOnce, scenarioShape, type Steps } from '../scenario-shape.ts';
import { readTextInSteps, type Problem } from '../scenario-text.ts';
import type { Scenario } from '../scenario.ts';
import { warnOfScenario } from './scenario-warnings.ts';

/** Each rule is compared with all before it, so the time grows with the square of their number. */
const MOST_COMPARED = 200;

/** The document in a text, and its problems. */
export interface CheckedText {
  /** null for a text with problems. */
  readonly document: unknown;
  readonly problems: readonly Problem[];
  /** How many more problems there are. */
  readonly more: number;
  readonly warnings: readonly Problem[];
}

/** The warnings for a correct scenario: parts of it that are never used. */
function* warningsOf(text: string): Steps<readonly Problem[]> {
  const read = yield* readTextInSteps(text);
  const found: Problem[] = [];
  const { document } = yield* scenarioShape(read.input);
  warnOfScenario(document, (path, message) => found.push(read.problemAt(path, message)));
  return inOrder(found);
}

/** Checks the text of a scenario, and warns of what is never used in it. */
export function* checkText(text: string, settings: ScenarioSettings): Steps<CheckedText> {
  try {
    const { document } = (yield* textScenario(text, 'scenario', settings)).source;
    const { rules = [], outcomes = [] } = document as ScenarioInput;
    const isCompared = rules.length + outcomes.length <= MOST_COMPARED;
    const warnings = isCompared ? reported(yield* warningsOf(text)).shown : [];
    return { document, problems: [], more: 0, warnings };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const { problems, more } = error;
    return { document: null, problems, more, warnings: [] };
  }
}

interface CheckedScenario {
  readonly scenario: Scenario;
  readonly warnings: readonly string[];
}

/** Checks the text of a scenario file, and warns of what is never used in it. @throws ScenarioError with what is wrong with it */
export function checkScenario(text: string, file: string, settings: ScenarioSettings): CheckedScenario {
  const scenario = atOnce(textScenario(text, file, settings));
  const { shown, more } = reported(atOnce(warningsOf(text)));
  const warnings = shown.map(
    ({ place, path, message }) => `${file}:${place!.line}: warning: ${path} ${message}`,
  );
  return { scenario, warnings: more > 0 ? [...warnings, `${file}: and ${more} more warnings`] : warnings };
}
