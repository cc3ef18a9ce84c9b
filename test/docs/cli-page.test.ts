import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { tableIn } from '../support/markdown.ts';

const PAGE = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
test('docs/cli.md lists the commands in the groups and in the order of --help --all', () => {
  const sections = PAGE.split('\n## Commands\n')[1]!.split('\n## ')[0]!.split('\n### ').slice(1);
  const listed = sections.map((section) => [
    section.split('\n', 1)[0]!,
    [...new Set(tableIn(section).flatMap(([cell]) => cell!.split(', ').map((name) => name.split(' ')[0]!)))],
  ]);
  const groups: Record<string, string[]> = {};
  for (const command of buildProgram({}).commands) {
    (groups[command.helpGroup().replace(/:$/, '')] ??= []).push(command.name());
  }
  expect(listed).toEqual(Object.entries(groups));
});
