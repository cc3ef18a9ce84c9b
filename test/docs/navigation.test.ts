import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tableIn } from '../support/markdown.ts';

test('docs/README.md lists every page once, and seven of them first', () => {
  const overview = readFileSync('docs/README.md', 'utf8');
  expect(tableIn(overview.split('\n## ')[0]!)).toHaveLength(7);
  const listed = [...overview.matchAll(/^\| \[.*?\]\(([\w/-]+\.md)\)/gm)].map(([, page]) => page!);
  const files = readdirSync('docs', { recursive: true, encoding: 'utf8' });
  const pages = files.filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(listed.toSorted()).toEqual(pages.toSorted());
});
