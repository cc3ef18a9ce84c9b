import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { SETTINGS } from '../../src/settings.ts';
import { tableIn } from '../support/markdown.ts';

const PAGE = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
const SETTING_FLAGS = new Set(SETTINGS.map(({ flag, value }) => `${flag} ${value}`));

/** Every command with its path: `rule add`. */
const commandsBelow = (command: Command, path = ''): readonly (readonly [string, Command])[] =>
  command.commands.flatMap((sub) => {
    const own = `${path} ${sub.name()}`.trim();
    return [[own, sub] as const, ...commandsBelow(sub, own)];
  });

/** The options of a command that are no settings, as --help shows them. */
const optionsOf = (command: Command): string[][] =>
  command.options
    .filter(({ flags }) => !SETTING_FLAGS.has(flags))
    .map((option) => [option.flags, command.createHelp().optionDescription(option)]);

test('docs/cli.md has the options of every command, as --help shows them', () => {
  const sections = PAGE.split('\n## Options\n')[1]!
    .split('\n### ')
    .slice(1)
    .map((section) => [section.split('\n', 1)[0]!, tableIn(section)] as const);
  const expected = commandsBelow(buildProgram({}))
    .map(([path, command]) => [path, optionsOf(command)] as const)
    .filter(([, options]) => options.length > 0);
  expect(Object.fromEntries(sections)).toEqual(Object.fromEntries(expected));
});
