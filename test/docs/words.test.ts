import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Words that read as translated, or that had a second name, and what to write. */
const GONE: readonly (readonly [words: RegExp, better: string])[] = [
  [
    /\b(?:is|are|was|were|be|been) answered (?:with )?(?:an? )?`?[2-5]\d\d\b/i,
    'returns a 500, or gets a 500',
  ],
  [/\bseldom\b/i, 'rarely, or too few times'],
  [/\b(?:un)?mend(?:s|ed|ing)?\b/i, 'fix'],
  [/\bcure[sd]?\b/i, 'fix'],
  [/\bno[ _-]occasion\b/i, 'not exercised'],
  [/^\W*instead: /i, 'fix:'],
  [/\b(?:a|the|its|every) finds?\b/i, 'finding'],
  [/\bcalm (?:run|world|baseline)s?\b/i, 'baseline, or a run without failures'],
  [/\brules? on top\b/i, 'override'],
  [/\bheeds?\b/i, 'uses, or follows'],
  [/\bmeets its fate\b/i, 'behaves as listed'],
];

const goneIn = (text: string, name = ''): readonly string[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      GONE.filter(([words]) => words.test(line)).map(
        ([words, better]) => `${name}:${index + 1} ${words.exec(line)![0].trim()}: write ${better}`,
      ),
    );

const below = (folder: string, names: RegExp): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => names.test(name))
    .map((name) => join(folder, name));

/** What a user or a maintainer reads: documents, code with its messages and --help, scenarios, forms for issues. */
const READ = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...below('docs', /\.(?:md|mjs|js|ts|py|go|java|ya?ml)$/),
  ...below('src', /\.tsx?$/),
  ...below('fixtures/scenarios', /\.yaml$/),
  ...below('.github', /\.(?:md|yml)$/),
];

test('no document, message, name or comment uses a word that was replaced by a plainer one', () => {
  expect(goneIn('A refused one\nis answered 500')).toEqual([
    ':2 is answered 500: write returns a 500, or gets a 500',
  ]);
  expect(READ.length).toBeGreaterThan(300);
  expect(READ.flatMap((name) => goneIn(readFileSync(name, 'utf8'), name))).toEqual([]);
});
