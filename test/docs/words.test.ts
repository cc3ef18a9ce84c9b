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

/**
 * Names of what earlier editions had. Nothing that a person reads has them any more, except src/removed.ts, which refuses
 * them, and the tests of those refusals.
 */
const REMOVED: readonly (readonly [words: RegExp, better: string])[] = [
  [/payout-sandbox completion|shell completion/, 'nothing'],
  [/payout-sandbox rule from|\brule_from\b|\bruleFrom\b|\brepeatingRule\b/, 'journal'],
  [/world\.orders\(|\brunOrders\b|\bOrdersOptions\b/, 'held and release'],
  [/--time-zone\b|\btime_zone\b/, 'nothing: people read IST, programs UTC'],
  [/validate (?:\S+ )?--explain\b/, 'explain'],
  [
    /payout-sandbox (?:freeze|unfreeze|resume|request|withdraw|drop|name) |'unfreeze'/,
    'clock, journal, fund',
  ],
  [
    /\b(?:scenario_show|scenario_list|rule_list)\b|payout-sandbox (?:scenario show|scenario list|rule list)/,
    'scenario',
  ],
  [/\bpayout-sandbox probe\b|\bprobe\.md\b|\bprobe-command\b|trials\/probe\b|'probe'/, 'docs/fidelity.md'],
  [/\bno-backoff\b|\bunfunded-retry\b|\bbalance-race\b|\bresent-after-failure\b|'npci'/, 'another check'],
  [
    /\(from before an? (?:undo|restore)|verdict outlives|findings outlive|\bkept verdict/,
    'from before a reset',
  ],
  [/junit-?checks|githubAnnotations|--report github\b/i, '--verbose, or --report markdown'],
  [/`examine\b|\bsandbox examine\b|\btoHar\b|\bHAR\b|\bHttpArchive\b|\bsaved traffic\b/, 'referee'],
  [/\brewind|world\.before\(|stateBefore|state\?before=|REQUEST_NOT_FOUND|--before\b/, 'undo, or a snapshot'],
  [/\bwhat[ -]if\b|WhatIf|as-it-was|\breplay (?:a file|plays)|beatsOf|-replay\b/, 'a fork'],
  [
    /\bone-row\b|\bpairwise\b|\bhidden-resends\b|\brequire-exercised\b|--dialects presets\b/,
    'docs/matrix.md',
  ],
  [/\blog-?normal\b/, 'a delay that is fixed or drawn from a range'],
  [/\bpostman\b|\bnewman\b|\bk6\b|\bgrafana\b/, 'nothing: the recipe is gone'],
];

const goneIn = (text: string, name = '', gone = GONE): readonly string[] =>
  gone.flatMap(([words, better]) =>
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

test('no document, message, type, schema or test names what earlier editions had', () => {
  const named = [
    ...READ,
    ...below('test', /\.(?:ts|mjs|yaml|json)$/),
    ...below('fixtures', /\.json$/),
    ...below('bench', /\.(?:m?js|md)$/),
    ...below('.ci', /./),
  ].filter(
    (name) => !['src/removed.ts', 'test/docs/words.test.ts', 'test/cli/removed.test.ts'].includes(name),
  );
  expect(named.flatMap((name) => goneIn(readFileSync(name, 'utf8'), name, REMOVED))).toEqual([]);
});
