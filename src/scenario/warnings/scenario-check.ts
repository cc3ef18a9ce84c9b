import type { ScenarioInput } from '../../contract/control.ts';
import { reported } from '../../contract/shape-issues.ts';
import { inOrder, ScenarioError, scenarioOf } from '../scenario-file.ts';
import type { ScenarioSettings } from '../../contract/snapshot-lines.ts';
import { scenarioShape } from '../scenario-shape.ts';
import { readText, type Problem, type TextRead } from '../scenario-text.ts';
import type { Scenario } from '../scenario.ts';
import { warnOfScenario } from './scenario-warnings.ts';

/** Each rule is compared with all before it, so the time grows with the square of their number. */
const MOST_COMPARED = 200;

export interface CheckedText {
  /** null for a text with problems. */
  readonly document: unknown;
  readonly problems: readonly Problem[];
  readonly more: number;
  readonly warnings: readonly Problem[];
}

/** The warnings for a correct scenario: parts of it that are never used. */
function warningsOf(read: TextRead): readonly Problem[] {
  const found: Problem[] = [];
  const { document } = scenarioShape(read.input);
  warnOfScenario(document, (path, message) => found.push(read.problemAt(path, message)));
  return inOrder(found);
}

export function checkText(read: TextRead, settings: ScenarioSettings): CheckedText {
  try {
    const { document } = scenarioOf(read, 'scenario', settings).source;
    const { rules = [], outcomes = [] } = document as ScenarioInput;
    const isCompared = rules.length + outcomes.length <= MOST_COMPARED;
    const warnings = isCompared ? reported(warningsOf(read)).shown : [];
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
  const read = readText(text);
  const scenario = scenarioOf(read, file, settings);
  const { shown, more } = reported(warningsOf(read));
  const warnings = shown.map(
    ({ place, path, message }) => `${file}:${place!.line}: warning: ${path} ${message}`,
  );
  return { scenario, warnings: more > 0 ? [...warnings, `${file}: and ${more} more warnings`] : warnings };
}
