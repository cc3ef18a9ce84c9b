import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { anchorOf } from '../support/markdown.ts';

const DOCS = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...DOCS];

const read = (page: string): string => readFileSync(page, 'utf8');

interface Link {
  readonly page: string;
  readonly path: string;
  readonly anchor: string | undefined;
}

/** The links of a page to files of this project. */
const linksOf = (page: string): readonly Link[] =>
  [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^\w+:/.test(target))
    .map((target) => {
      const [path, anchor] = target.split('#');
      return { page, path: path === '' ? page : normalize(join(dirname(page), path!)), anchor };
    });

const anchorsOf = (page: string): readonly string[] =>
  [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));

test('every link of the documentation leads to a file, and to a heading that it has', () => {
  const broken = PAGES.flatMap(linksOf).filter(
    ({ path, anchor }) => !existsSync(path) || (anchor !== undefined && !anchorsOf(path).includes(anchor)),
  );
  expect(broken).toEqual([]);
});

test('every source file that a page for maintainers names is there', () => {
  const pages = ['CONTRIBUTING.md', ...DOCS.filter((page) => page.startsWith(join('docs', 'internals')))];
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `/${join(folder, name)}`),
  );
  const gone = pages.flatMap((page) =>
    [...read(page).matchAll(/(?<=[\s`(])[\w/-]+\.tsx?(?=[\s`)])/g)]
      .map(([name]) => name)
      .filter((name) => !files.some((file) => file.endsWith(`/${name}`)))
      .map((name) => `${page}: ${name}`),
  );
  expect(gone).toEqual([]);
});

test('the README has at most 110 lines', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(111);
});

test('no line of a document is over 160 characters, except in code', () => {
  const long = PAGES.flatMap((page) =>
    read(page)
      .replaceAll(/^```.*?^```$/gms, '')
      .split('\n')
      .filter((line) => line.length > 160)
      .map((line) => `${page}: ${line.slice(0, 60)}`),
  );
  expect(long).toEqual([]);
});
