import { stringify } from 'yaml';
import type { ExpectedPayout } from '../../contract/conduct.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import { failureText, withFailures } from './failures.ts';
import type { Reproduction } from './search.ts';

/** Something that a hunt found, in words and as a scenario. */
export interface HuntFinding extends Reproduction {
  /** What fails, one sentence for each failure. */
  readonly words: readonly string[];
  /** All of it as text for people. */
  readonly story: string;
  /** A scenario that makes the client do it again. Its description is the story. */
  readonly scenario: ScenarioInput;
  /** The same as the text of a scenario file. */
  readonly yaml: string;
  /** What should have been paid. */
  readonly expected: readonly ExpectedPayout[];
}

const MOST_LINES = 30;

/** A finding in words, and as a scenario. @param base how the service behaves without the failures */
export function findingOf(
  found: Reproduction,
  expected: readonly ExpectedPayout[],
  base: ScenarioInput,
  patienceMs: number,
): HuntFinding {
  const words = found.failures.map(failureText);
  const story = storyOf(found, words);
  const scenario = withFailures({ ...base, description: story }, found.failures, patienceMs);
  return { ...found, words, story, expected, scenario, yaml: stringify(scenario, { lineWidth: 0 }) };
}

function storyOf({ goal, message, requests }: Reproduction, words: readonly string[]): string {
  const left = requests.length - MOST_LINES;
  return [
    `${goal}: ${message}`,
    ...(words.length === 0 ? ['No failure is needed.'] : ['What fails:']),
    ...words.map((text, index) => `  ${index + 1}. ${text}`),
    'What the client did:',
    ...requests.slice(0, MOST_LINES).map((line) => `  ${line}`),
    ...(left > 0 ? [`  and ${left} more`] : []),
    '',
  ].join('\n');
}
