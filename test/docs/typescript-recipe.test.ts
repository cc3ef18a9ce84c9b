import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { Program } from '../support/program.ts';
import { projectFolder } from '../support/temporary-folder.ts';

const RECIPE = 'docs/recipes/typescript';
const PACKAGES = ['openapi-fetch', 'openapi-typescript-helpers', '@types/node', 'undici-types', 'vitest'];

/** Runs a script of Node.js. @returns its exit code and what it wrote */
async function node(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const { code, stdout, stderr } = await new Program(process.execPath, args, { NO_COLOR: '1' }).ended;
  return { code, output: stdout + stderr };
}

/** The recipe as a user has it: its files, its packages, and the types that its script generates. */
async function project(): Promise<string> {
  const folder = projectFolder(PACKAGES);
  cpSync(RECIPE, folder, { recursive: true });
  writeFileSync(join(folder, 'openapi.json'), (await node([resolve('dist/main.cjs'), 'openapi'])).output);
  const generated = await node([
    `--import=${resolve('test/http/openapi/typescript-5.mjs')}`,
    resolve('node_modules/openapi-typescript/bin/cli.js'),
    join(folder, 'openapi.json'),
    `--output=${join(folder, 'sandbox-api.d.ts')}`,
  ]);
  expect(generated).toEqual({ code: 0, output: expect.any(String) });
  return folder;
}

const compiled = (folder: string) => node([resolve('node_modules/typescript/bin/tsc'), '-p', folder]);

test('typescript.md: the suite compiles with generated types and passes, and a mode that does not exist is an error', async () => {
  const folder = await project();
  expect(await compiled(folder)).toEqual({ code: 0, output: '' });
  const vitest = resolve('node_modules/vitest/vitest.mjs');
  expect(await node([vitest, 'run', '--root', folder, '--testTimeout', '200000'])).toEqual({
    code: 0,
    output: expect.stringMatching(/Tests {2}2 passed/),
  });

  const file = join(folder, 'payouts.test.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace("'IMPS'", "'SWIFT'"));
  expect(await compiled(folder)).toEqual({
    code: 1,
    output: expect.stringMatching(/^\S*payouts\.test\.ts\(\d+,\d+\): error TS2322: .*SWIFT/),
  });
});
