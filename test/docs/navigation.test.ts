import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { anchorOf } from '../support/markdown.ts';

const read = (page: string): string => readFileSync(page, 'utf8');
const titleOf = (page: string): string => /^# ([^:\n]+)/.exec(read(page))![1]!;

/** The pages that the tables of an overview list, in this order; a page that is an overview itself is followed by its own. */
function listed(overview: string): readonly string[] {
  const pages = [...read(overview).matchAll(/^\|.*?\]\(([\w/.-]+\.md)\).*\|$/gm)]
    .map(([, path]) => join(dirname(overview), path!))
    .filter((page) => page !== overview && existsSync(page));
  return pages.flatMap((page) => [page].concat(page.endsWith('README.md') ? listed(page) : []));
}

const ORDER = [...new Set(['docs/README.md', ...listed('docs/README.md')])];

/** Breaks a paragraph of links into lines of at most 160 characters, as the formatter does. */
const filled = (text: string): string =>
  text
    .match(/\[.*?\]\S+|\S+/g)!
    .reduce(
      (lines, word) =>
        `${lines}${lines.length - lines.lastIndexOf('\n') + word.length > 160 ? '\n' : ' '}${word}`,
    );

const linkTo = (page: string, from: string): string => `[${titleOf(page)}](${relative(dirname(from), page)})`;

/** A page with its table of contents, if it is long, and with links to the pages before and after it. */
function withNavigation(page: string): string {
  const text = read(page)
    .replace(/^On this page: [^]*?\n\n/m, '')
    .replace(/\n---\n\n(Previous|Next): [^]*$/, '');
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!);
  const isLong = headings.length > 2 && text.split('\n').length > 80;
  const contents = headings.map((heading) => `[${heading}](#${anchorOf(heading)})`).join(' · ');
  const [before, after] = [ORDER[ORDER.indexOf(page) - 1], ORDER[ORDER.indexOf(page) + 1]];
  const links = [
    ...(before === undefined ? [] : [`Previous: ${linkTo(before, page)}`]),
    ...(after === undefined ? [] : [`Next: ${linkTo(after, page)}`]),
  ].join(' · ');
  const body = isLong ? text.replace('\n\n', `\n\n${filled(`On this page: ${contents}`)}\n\n`) : text;
  return `${body}\n---\n\n${filled(links)}\n`;
}

test('the tables of docs/README.md and of the overviews below it list every page', () => {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  expect(ORDER.toSorted()).toEqual(pages.toSorted());
});

test.each(ORDER)('%s has a table of contents if it is long, and links to its neighbours', async (page) => {
  await expect(withNavigation(page)).toMatchFileSnapshot(join('../..', page));
});
