import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Words that read as translated, or that had a second name, and what to write. A space also stands for the end of a line. */
const GONE: readonly (readonly [words: RegExp, better: string])[] = [
  [/\b(?:is|are|was|were|be|been) answered (?:with )?(?:an? )?`?[2-5]\d\d\b/, 'returns a 500, or gets a 500'],
  [/\b(?:an|the|no) answer|\bsandbox answers/, 'response, or responds'],
  [/\bseldom\b/, 'rarely, or too few times'],
  [/\b(?:un)?mend(?:s|ed|ing)?\b/, 'fix'],
  [/\bcure[sd]?\b/, 'fix'],
  [/\bno[ _-]occasion\b/, 'not exercised'],
  [/^\W*instead: /, 'fix:'],
  [/\b(?:a|the|its|every) finds?\b/, 'finding'],
  [/\bcalm (?:run|world|baseline)s?\b/, 'baseline, or a run without failures'],
  [/\brules? on top\b/, 'override'],
  [/\bheeds?\b/, 'uses, or follows'],
  [/\bmeets its fate\b/, 'behaves as listed'],
  [/tells every error/, 'reports every error'],
  [/takes it for/, 'treats it as'],
  [/throws away/, 'discards'],
  [/what becomes of/, 'what happens to'],
  [/had to make room/, 'were dropped'],
  [/worlds then start again/, 'worlds then start empty'],
  [/no step of a payout has a due time/, 'nothing scheduled'],
  [/there are \$\{names/, 'use one of'],
  [/this is not the admin token/, 'the admin token is missing or wrong'],
  [/how manieth|keeps a true wallet|stands what stands/, 'plain English'],
  [/how the house is laid out|what it was put through/, 'how the code is organised, how it was tested'],
];

const goneIn = (text: string, name = ''): readonly string[] =>
  GONE.flatMap(([words, better]) =>
    [...text.matchAll(new RegExp(words.source.replaceAll(' ', String.raw`\s+`), 'gim'))].map(
      ({ 0: found, index }) =>
        `${name}:${text.slice(0, index).split('\n').length} ${found.trim()}: write ${better}`,
    ),
  );

const below = (folder: string, names: RegExp): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('node_modules')); // packages of the benches and of .ci

/** What a user or a maintainer reads: documents, code with its messages and --help, scenarios, forms for issues. */
const READ = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...below('docs', /\.(?:md|mjs|js|ts|py|go|java|ya?ml)$/),
  ...below('src', /\.(?:tsx?|css|html)$/),
  ...below('fixtures/scenarios', /\.yaml$/),
  ...below('.github', /\.(?:md|yml)$/),
];

test('no document, message, name or comment uses a word that was replaced by a plainer one', () => {
  expect(goneIn('A refused one\nis answered\n500')).toEqual([
    ':2 is answered\n500: write returns a 500, or gets a 500',
  ]);
  expect(READ.length).toBeGreaterThan(300);
  expect(READ.flatMap((name) => goneIn(readFileSync(name, 'utf8'), name))).toEqual([]);
});
