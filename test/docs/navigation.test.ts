import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tableIn } from '../support/markdown.ts';

test('docs/README.md lists every page once, and seven of them first', () => {
  const [first, ...others] = readFileSync('docs/README.md', 'utf8').split('\n## ');
  const pagesIn = (part: string) =>
    [...part.matchAll(/^\| \[.*?\]\(([\w/-]+\.md)\)/gm)].map(([, page]) => page);
  expect(tableIn(first!)).toHaveLength(7);
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.md$/.test(name),
  );
  const listed = [first!, ...others].flatMap(pagesIn);
  expect(['README.md', ...listed].toSorted()).toEqual(pages.toSorted());
});
