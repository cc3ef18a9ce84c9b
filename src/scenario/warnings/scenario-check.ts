import type { ScenarioInput } from '../../contract/control.ts';
import { reported } from '../../contract/shape-issues.ts';
import type { Report } from '../planned-timeline.ts';
import { inOrder, ScenarioError, scenarioOf } from '../scenario-file.ts';
import type { ScenarioSettings } from '../../contract/snapshot-lines.ts';
import { scenarioShape } from '../scenario-shape.ts';
import type { Problem, TextRead } from '../scenario-text.ts';
import { warnOfScenario } from './scenario-warnings.ts';

/** Each rule is compared with all before it, so the time grows with the square of their number. */
const MOST_COMPARED = 200;

/** A scenario as it was written, and warnings of what is never used in it. @param file its name in messages @throws ScenarioError */
export function checkScenario(
  read: TextRead,
  file: string,
  settings: ScenarioSettings,
  mostCompared = Infinity,
) {
  const document = scenarioOf(read, file, settings).source.document as ScenarioInput;
  const { rules = [], outcomes = [] } = document;
  const found: Problem[] = [];
  if (rules.length + outcomes.length <= mostCompared) {
    const warn: Report = (path, message) => found.push(read.problemAt(path, message));
    warnOfScenario(scenarioShape(read.input).document, warn);
  }
  return { document, warnings: inOrder(found) };
}

/** The same for a text that somebody is writing: its problems are no error, and their document is null. */
export function checkText(read: TextRead, settings: ScenarioSettings) {
  try {
    const { document, warnings } = checkScenario(read, 'scenario', settings, MOST_COMPARED);
    return { document, problems: [], more: 0, warnings: reported(warnings).shown };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const { problems, more } = error;
    return { document: null, problems, more, warnings: [] };
  }
}
