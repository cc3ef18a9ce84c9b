import type { ScenarioInput } from '../../contract/control.ts';
import { reported } from '../../contract/shape-issues.ts';
import { inOrder, ScenarioError, scenarioOf } from '../scenario-file.ts';
import type { ScenarioSettings } from '../../contract/snapshot-lines.ts';
import { scenarioShape } from '../scenario-shape.ts';
import type { Problem, TextRead } from '../scenario-text.ts';
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

/** A scenario that can be used, as it was written, and what is never used in it. */
interface CheckedScenario {
  readonly document: ScenarioInput;
  readonly warnings: readonly Problem[];
}

/** @param file its name in messages @throws ScenarioError with what is wrong with it */
export function checkScenario(
  read: TextRead,
  file: string,
  settings: ScenarioSettings,
  mostCompared = Infinity,
): CheckedScenario {
  const document = scenarioOf(read, file, settings).source.document as ScenarioInput;
  const { rules = [], outcomes = [] } = document;
  return { document, warnings: rules.length + outcomes.length <= mostCompared ? warningsOf(read) : [] };
}

/** The same for a text that somebody is writing: its problems are no error. */
export function checkText(read: TextRead, settings: ScenarioSettings): CheckedText {
  try {
    const { document, warnings } = checkScenario(read, 'scenario', settings, MOST_COMPARED);
    return { document, problems: [], more: 0, warnings: reported(warnings).shown };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const { problems, more } = error;
    return { document: null, problems, more, warnings: [] };
  }
}
