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

const program = buildProgram({});
/** The first words of the commands for a running sandbox. */
const RUNNING = new Set(
  program.commands
    .filter((command) => command.helpGroup() === 'A running sandbox:')
    .map((command) => command.name()),
);

test('docs/cli.md lists the commands in the groups and in the order of --help', () => {
  const sections = PAGE.split('\n## Commands\n')[1]!.split('\n## ')[0]!.split('\n### ').slice(1);
  const listed = sections.map((section) => [
    section.split('\n', 1)[0]!,
    [...new Set(tableIn(section).map(([command]) => command!.split(' ')[0]!))],
  ]);
  const groups: Record<string, string[]> = {};
  for (const command of program.commands) {
    (groups[command.helpGroup().replace(/:$/, '')] ??= []).push(command.name());
  }
  expect(listed).toEqual(Object.entries(groups));
});

test('docs/cli.md has the options of every command, as --help shows them', () => {
  const shared = tableIn(PAGE.split('\n## In a second terminal\n')[1]!.split('\n## ')[0]!);
  const sections = PAGE.split('\n## Options\n')[1]!
    .split('\n### ')
    .slice(1)
    .map((section) => [section.split('\n', 1)[0]!, tableIn(section)] as const);
  const isShared = (option: readonly string[]): boolean => shared.some(([flags]) => flags === option[0]);
  const expected = commandsBelow(program)
    .filter(([, command]) => command.commands.length === 0)
    .map(([path, command]) => {
      const options = optionsOf(command);
      if (!RUNNING.has(path.split(' ')[0]!)) return [path, options] as const;
      expect(shared).toEqual(expect.arrayContaining(options.filter(isShared)));
      return [path, options.filter((option) => !isShared(option))] as const;
    })
    .filter(([, options]) => options.length > 0);
  expect(shared.length).toBeGreaterThan(0);
  expect(sections).toEqual(expected);
});
