import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageText } from '../package-files.ts';
import { makeFolder, writeText } from './named-files.ts';
import { EXIT_OK, quoted, say } from './output.ts';

/** The folder for what it writes, so that it never collides with a file of the project. */
const FOLDER = 'payout-sandbox';
const SCENARIO = 'scenarios/lost-response.yaml';
const PROGRAM = 'node_modules/.bin/payout-sandbox';

/** How a project writes and runs its tests. */
interface Style {
  /** What the tests import `test` from. */
  readonly runner: '@jest/globals' | 'node:test' | 'vitest';
  readonly extension: 'js' | 'mjs' | 'ts';
  /** The extension in an import of another file. */
  readonly imported: '' | '.js' | '.mjs' | '.ts';
  readonly usesRequire: boolean;
  /** The command that runs the tests, in a script of package.json. */
  readonly command: string;
}

/** @param manifest the text of its package.json; empty without one */
function styleOf(folder: string, manifest: string): Style {
  const has = (words: RegExp): boolean => words.test(manifest);
  const isTyped = existsSync(join(folder, 'tsconfig.json')) || has(/"typescript"\s*:/);
  const isModule = has(/"type"\s*:\s*"module"/);
  if (has(/\bvitest\b/)) {
    const extension = isTyped ? 'ts' : isModule ? 'js' : 'mjs';
    const imported = extension === 'mjs' ? '.mjs' : '.js';
    return { runner: 'vitest', extension, imported, usesRequire: false, command: `vitest run ${FOLDER}` };
  }
  if (has(/\bjest\b/)) {
    const runner = '@jest/globals';
    if (isTyped && has(/\b(?:ts-jest|swc|preset-typescript)\b/))
      return { runner, extension: 'ts', imported: '', usesRequire: false, command: `jest ${FOLDER}` };
    const jest = isModule ? 'node --experimental-vm-modules node_modules/jest/bin/jest.js' : 'jest';
    const command = `${jest} ${FOLDER}`;
    return { runner, extension: 'js', imported: '.js', usesRequire: !isModule, command };
  }
  const loader = has(/"tsx"\s*:/) ? '--import tsx ' : '';
  const runsTypes = loader !== '' || Boolean(Reflect.get(process.features, 'typescript')); // since Node.js 22.18
  const extension = isTyped && runsTypes ? 'ts' : isModule || manifest !== '' ? 'js' : 'mjs';
  return {
    runner: 'node:test',
    extension,
    imported: extension === 'ts' && loader !== '' ? '.js' : `.${extension}`,
    usesRequire: extension === 'js' && !isModule,
    command: `node ${extension === 'ts' ? loader : ''}--test ${FOLDER}/payouts.test.${extension}`,
  };
}

const withRequire = (text: string): string =>
  text
    .replaceAll(/^import (.*) from (.*);$/gm, 'const $1 = require($2);')
    .replaceAll(/^(const .*) as /gm, '$1: ')
    .replaceAll(/^export /gm, '');

/** The tests are written for node:test, as ES modules. */
function testIn({ runner, imported, usesRequire }: Style): string {
  let text = packageText('fixtures/init/payouts.test.js').replace('-client.js', `-client${imported}`);
  if (runner !== 'node:test') {
    text = text
      .replace(/^import assert.*\n.*\n/, `import { afterAll, expect, test } from '${runner}';\n`)
      .replace('after(async', 'afterAll(async')
      .replaceAll(/assert\.equal\((.*), (.*)\);/g, 'expect($1).toBe($2);');
  }
  return usesRequire ? withRequire(text) : text;
}

function clientIn({ extension, usesRequire }: Style): string {
  const text = packageText(`fixtures/init/payout-client.${extension === 'ts' ? 'ts' : 'js'}`);
  return usesRequire ? `${withRequire(text)}\nmodule.exports = { pay, statusOf };\n` : text;
}

function readManifest(folder: string): string {
  try {
    return readFileSync(join(folder, 'package.json'), 'utf8');
  } catch {
    return ''; // no package, so Node.js runs the tests
  }
}

/** A manifest with one more script, indented as it is; null where it has the script, or cannot be read. */
function withScript(manifest: string, name: string, command: string): string | null {
  try {
    const parsed = JSON.parse(manifest) as { scripts?: Record<string, string> };
    if (parsed.scripts?.[name] !== undefined) return null;
    const [indent = '  '] = /^[ \t]+(?=")/m.exec(manifest) ?? [];
    return `${JSON.stringify({ ...parsed, scripts: { ...parsed.scripts, [name]: command } }, null, indent)}\n`;
  } catch {
    return null;
  }
}

/** `payout-sandbox init FOLDER`: writes a client, tests and a scenario as the project would, and a script `referee`. */
export function initProject(folder: string): number {
  const manifest = readManifest(folder);
  const style = styleOf(folder, manifest);
  const files = [
    [`payout-client.${style.extension}`, 'a client, to replace with yours', clientIn(style)],
    [`payouts.test.${style.extension}`, 'three tests', testIn(style)],
    [SCENARIO, 'a scenario: the first response is lost', packageText(`fixtures/init/${SCENARIO}`)],
  ] as const;
  const report = (isNew: boolean, name: string, purpose: string): void =>
    say(`${isNew ? 'wrote' : 'kept '}  ${name.padEnd(45)}  ${isNew ? purpose : 'it was there already'}`);
  for (const [name, purpose, text] of files) {
    const file = join(folder, FOLDER, name);
    makeFolder('init', dirname(file));
    report(writeText('init', file, text, 'wx'), `${FOLDER}/${name}`, purpose);
  }
  const judged = `payout-sandbox referee --intent "client_ref_id=^(order-[0-9]+)" -- ${style.command}`;
  if (manifest !== '') {
    const text = withScript(manifest, 'referee', judged);
    if (text !== null) writeText('init', join(folder, 'package.json'), text);
    report(text !== null, 'package.json', 'a script: referee; adapt its --intent to your references');
  }
  if (folder !== '.') say(`first  cd ${quoted(folder)}`);
  if (!existsSync(join(folder, 'node_modules/payout-sandbox')))
    say('first  npm install --save-dev ./vendor/payout-sandbox-VERSION.tgz   (see docs/install.md)');
  say(`next   ${style.command.startsWith('node ') ? '' : 'npx '}${style.command}`);
  say(`next   ${manifest === '' ? judged.replace('payout-sandbox', PROGRAM) : 'npm run referee'}`);
  say(`next   ${PROGRAM} --port 0 ${FOLDER}/${SCENARIO}   (serves until Ctrl+C)`);
  if (manifest === '')
    say('These files are for Node.js. For Python, Java or Go, see docs/recipes/languages.md');
  return EXIT_OK;
}
