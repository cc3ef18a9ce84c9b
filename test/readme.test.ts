import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REFUSALS } from '../src/contract/errors.ts';
import { SETTINGS } from '../src/settings.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The rows of the table below a heading, each as its cells, without the code marks. */
function tableUnder(heading: string): string[][] {
  const section = README.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

test('the README lists every setting as it is, and none that is not', () => {
  expect(tableUnder('Settings')).toEqual(
    SETTINGS.map(({ flag, value, env, defaultText, description }) => [
      `${flag} ${value}`,
      env,
      defaultText,
      description,
    ]),
  );
});

test('the README lists every refusal as it is, and none that is not', () => {
  expect(tableUnder('Errors')).toEqual(
    Object.entries(REFUSALS).map(([code, { status, message }]) => [code, String(status), message]),
  );
});
