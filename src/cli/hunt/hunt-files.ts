import { z } from 'zod';
import { UsageError } from '../../contract/usage-error.ts';
import { junitDocument } from '../../referee/reports/junit.ts';
import { escaped } from '../../referee/reports/annotations.ts';
import { fenced, literal } from '../../referee/reports/markdown.ts';
import { failureName } from '../../trials/hunt/failures.ts';
import { GOALS } from '../../trials/hunt/goals.ts';
import type { HuntResult, KnownFinding } from '../../trials/hunt/hunt.ts';
import type { HuntFinding } from '../../trials/hunt/story.ts';
import { usedFile } from '../named-files.ts';

/** What a hunt found, as reports in files, and the findings of an earlier hunt that are accepted. */

const NAME = 'payout hunt';

/** A finding in a report, and in a file of known ones. */
const findingOf = ({ goal, message, failures, words }: HuntFinding) => ({
  goal,
  message,
  failures: failures.map(failureName),
  what_fails: words,
});

export const huntReport = ({ findings, known, flaky, rounds, runs, elapsedMs }: HuntResult) => ({
  findings: findings.map(findingOf),
  known: known.map(findingOf),
  flaky,
  rounds,
  runs,
  elapsed_ms: elapsedMs,
});

const huntJson = (result: HuntResult): string => `${JSON.stringify(huntReport(result), null, 2)}\n`;

const countText = ({ findings, known, runs }: HuntResult): string =>
  `${findings.length} found, ${known.length} known, ${runs} runs`;

const huntMarkdown = (result: HuntResult): string =>
  [
    `## Payout hunt: ${result.findings.length === 0 ? 'nothing found' : 'failed'}`,
    '',
    countText(result),
    '',
    ...result.findings.flatMap(({ goal, message, story }) => [
      `### ${goal}: ${literal(message)}`,
      '',
      fenced(story.trimEnd().split('\n')),
      '',
    ]),
  ].join('\n');

/** A case for each goal. */
const huntJunit = ({ findings, elapsedMs }: HuntResult): string =>
  junitDocument(NAME, [
    {
      name: NAME,
      ms: elapsedMs,
      cases: GOALS.map((goal) => {
        const found = findings.find((finding) => finding.goal === goal);
        const failure = found && { type: goal, message: found.message, text: found.story };
        return { classname: NAME, name: goal, ms: 0, failure };
      }),
    },
  ]);

const huntGithub = ({ findings }: HuntResult): string =>
  findings
    .map(({ goal, story }) => `::error title=payout hunt, ${goal}::${escaped(story.trimEnd())}\n`)
    .join('');

export const HUNT_WRITERS = {
  markdown: huntMarkdown,
  junit: huntJunit,
  json: huntJson,
  github: huntGithub,
};

const Known = z.object({
  findings: z.array(z.object({ goal: z.enum(GOALS), failures: z.array(z.string()) })),
});

/** The findings in a JSON report of an earlier hunt. */
export const knownFindings = (file: string): readonly KnownFinding[] =>
  usedFile('--known', file, (text) => {
    try {
      return Known.parse(JSON.parse(text)).findings;
    } catch (cause) {
      throw new UsageError('it is not a report of hunt: write one with --report json=FILE', { cause });
    }
  });
