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
    `--import=${resolve('test/docs/typescript-5.mjs')}`,
    resolve('node_modules/openapi-typescript/bin/cli.js'),
    join(folder, 'openapi.json'),
    `--output=${join(folder, 'sandbox-api.d.ts')}`,
  ]);
  expect(generated).toEqual({ code: 0, output: expect.any(String) });
  return folder;
}

const compiled = (folder: string) => node([resolve('node_modules/typescript/bin/tsc'), '-p', folder]);

/** Calls that the generated types refuse, one in each line from the third on. */
const WRONG = `import createClient from 'openapi-fetch';
const client = createClient<import('./sandbox-api.js').paths>({ baseUrl: '' });
await client.GET('/payout/state', {});
await client.GET('/_sandbox/transactions/{txn_id}', {});
await client.POST('/_sandbox/rules', { body: { effect: { delay: 7 } } });
await client.GET('/_sandbox/transactions', { params: { query: { cursor: 'next' } } });
await client.GET('/_sandbox/requests', { params: { query: { limit: 2, order: 'oldes' } } });
export {};
`;

test('typescript.md: the suite compiles with generated types and passes, and what the interface refuses is an error', async () => {
  const folder = await project();
  expect(await compiled(folder)).toEqual({ code: 0, output: '' });
  const vitest = resolve('node_modules/vitest/vitest.mjs');
  expect(await node([vitest, 'run', '--root', folder, '--testTimeout', '200000'])).toEqual({
    code: 0,
    output: expect.stringMatching(/Tests {2}2 passed/),
  });

  const file = join(folder, 'payouts.test.ts');
  const suite = readFileSync(file, 'utf8').replace("'IMPS'", "'SWIFT'").replace('50_000', "'50000.00'");
  writeFileSync(file, suite);
  writeFileSync(join(folder, 'wrong.ts'), WRONG);
  const { output } = await compiled(folder);
  const errors = [...output.matchAll(/(\w+(?:\.test)?\.ts)\((\d+),\d+\): error/g)].map(
    ([, name, line]) => `${name}:${line}`,
  );
  const linesOf = (text: string): string[] => text.split('\n');
  const inSuite = ["'50000.00'", "'SWIFT'"].map(
    (wrong) => `payouts.test.ts:${linesOf(suite).findIndex((line) => line.includes(wrong)) + 1}`,
  );
  expect(errors).toEqual([...inSuite, ...[3, 4, 5, 6, 7].map((line) => `wrong.ts:${line}`)]);
});
