import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/settings.ts';
import { testRows } from '../support/test-rows.ts';

/** What can be tested of a recipe without running it. Running them: recipes-run, operate, .ci/check-recipes. */

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));
const DOCKERFILE = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');

const textOf = (path: string): string => readFileSync(join(DOCS, path), 'utf8');
const names = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter(
    (path) => /^(?:recipes|operate)\/|^install\.md$/.test(path) && !/__pycache__|node_modules/.test(path),
  )
  .filter((path) => statSync(join(DOCS, path)).isFile());
const pages = names.filter((path) => path.endsWith('.md'));
const files = names.filter((path) => !path.endsWith('.md'));

/** The files of this project that a page links. */
const linksOf = (page: string): string[] =>
  [...textOf(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, path]) =>
    posix.join(posix.dirname(page), path!),
  );

test('a recipe calls npx only for what its page has the reader install', () => {
  const called = pages.flatMap((page) =>
    [...textOf(page).matchAll(/^\s*npx (?:-\S+ )*(\S+)/gm)].map(([, name]) => ({ page, name: name! })),
  );
  expect(called.map(({ name }) => name)).toContain('autocannon');
  const missing = called.filter(
    ({ page, name }) =>
      !new RegExp(`npm (?:install|pack)[^\n]*\\b${name}\\b|devDependency`).test(textOf(page)),
  );
  expect(missing).toEqual([]);
});

test('nothing that users read installs the package by its name alone, or calls it with npx', () => {
  const shown = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:md|yml|yaml|groovy|json)$/.test(path))
    .concat('../README.md');
  const byName =
    /npx (?:-\S+ )*payout-sandbox|npm i\w* [^\n]*(?<=\s)payout-sandbox(?![-@])|"payout-sandbox": "[^f]/;
  expect(shown.filter((path) => byName.test(textOf(path)))).toEqual([]);
});

test('a recipe sets only variables that exist', () => {
  const ofClients = ['PAYOUT_URL', 'PAYOUT_KEY', 'PAYOUT_API_KEY', 'PAYOUT_TIMEOUT_MS', 'SANDBOX_FULL'];
  const known = new Set<string>([...SETTINGS.map(({ env }) => env), ...ofClients]);
  const variable = /\bSANDBOX_\w+|(?<=^\s*(?:- name: |-e )?)[A-Z]+_[A-Z_]+\b(?! )/gm;
  const set = names.flatMap((name) => [...textOf(name).matchAll(variable)].map(([word]) => [name, word]));
  expect(set.length).toBeGreaterThan(40);
  expect(set.filter(([, word]) => !known.has(word!))).toEqual([]);
});

test('every file of a recipe is linked from a page', () => {
  const linked = new Set(pages.flatMap((page) => linksOf(page)));
  expect(files.filter((file) => !linked.has(file))).toEqual([]);
});

testRows(pages)('a recipe shows the code of the files that it links', (page) => {
  const indented = (text: string): string => text.replaceAll(/^ +/gm, '').trim();
  const linked = linksOf(page)
    .filter((path) => files.includes(path))
    .map((path) => indented(textOf(path)));
  const shown = textOf(page).matchAll(/```(js|json|yaml|python|java|go|nginx)\n(.*?)```/gs);
  const elsewhere = [...shown].filter(([, , code]) => !linked.some((file) => file.includes(indented(code!))));
  expect(elsewhere.map(([, , code]) => code)).toEqual([]);
});

interface Service {
  readonly ports: readonly string[];
  readonly environment: Record<string, string>;
  readonly volumes?: readonly string[];
  readonly options: string;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly command: readonly string[];
}

const exposed = /^EXPOSE (\d+)$/m.exec(DOCKERFILE)![1]!;

test('the compose file uses the health check of the image, and ports that exist', () => {
  const { payouts, app } = parse(textOf('recipes/compose/compose.yaml')).services as Record<string, Service>;
  const [exec, ...check] = payouts!.healthcheck.test;
  expect(exec).toBe('CMD');
  expect(/^HEALTHCHECK .* CMD (.*)$/m.exec(DOCKERFILE)![1]).toContain(check.join(' '));
  expect(payouts!.ports).toEqual([`127.0.0.1:3000:${exposed}`]);
  expect(app!.environment['PAYOUT_URL']).toBe(`http://payouts:${exposed}`);
  expect(app!.volumes).toEqual(['./app:/app:ro']);
  expect(existsSync(join(DOCS, 'recipes/compose', app!.command.at(-1)!))).toBe(true);
});

test('the job of GitLab allows the name of its service, and calls it at the port of the image', () => {
  const { services, variables } = parse(textOf('recipes/ci/gitlab-ci.yml'))['payouts-in-python'];
  const [{ alias, variables: settings }] = services;
  expect(settings.SANDBOX_ALLOWED_HOSTS).toBe(alias);
  expect(variables).toEqual({ PAYOUT_URL: `http://${alias}:${exposed}` });
});
