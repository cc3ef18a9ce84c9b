import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { Program } from '../support/program.ts';

/** The files that `npm pack` puts into the package. */
let shipped: readonly string[];

beforeAll(() => {
  const npm = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' });
  const [{ files }] = JSON.parse(npm.stdout) as [{ files: { path: string }[] }];
  shipped = files.map(({ path }) => path);
});

/** A folder in which the package is installed, and nothing else. */
function installed(): { readonly folder: string; readonly main: string } {
  const folder = mkdtempSync(join(tmpdir(), 'installed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const root = join(folder, 'node_modules/payout-sandbox');
  for (const file of shipped) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(file, join(root, file));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return { folder, main: join(root, 'dist/main.cjs') };
}

test('the package ships the program, the library, its types, the scenarios, and no more', () => {
  const known = shipped.map((path) => {
    if (/^fixtures\/scenarios\/[\w-]+\.yaml$/.test(path)) return 'fixtures/scenarios/';
    if (/^dist\/dashboard\/(index\.html|assets\/index-[\w-]+\.(js|css)|assets\/[\w-]+\.svg)$/.test(path))
      return 'the page';
    if (/^dist\/(client|contract|domain)\/[\w-]+\.d\.ts$/.test(path)) return 'types of the library';
    if (path.startsWith('dist/docs/')) return 'the page that shows the calls';
    return path;
  });
  expect([...new Set(known)].toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'dist/THIRD-PARTY-LICENSES.txt',
    'dist/core.cjs',
    'dist/fast-json-stringify.cjs',
    'dist/fastest-levenshtein.cjs',
    'dist/index.d.ts',
    'dist/index.js',
    'dist/main.cjs',
    'dist/prom-client.cjs',
    'dist/re2js.cjs',
    'dist/settings.d.ts',
    'dist/yaml.cjs',
    'fixtures/compiled/dialects/default.json',
    'fixtures/compiled/dialects/lenient.json',
    'fixtures/compiled/dialects/strict.json',
    'fixtures/compiled/dialects/terse.json',
    'fixtures/compiled/magic.json',
    'fixtures/openapi-examples.json',
    'fixtures/scenario.schema.json',
    'fixtures/scenarios/',
    'package.json',
    'the page',
    'the page that shows the calls',
    'types of the library',
  ]);
  expect(shipped.filter((path) => path.startsWith('fixtures/scenarios/'))).toHaveLength(
    readdirSync('fixtures/scenarios').length,
  );
});

test('the library exports these names, and no others', async () => {
  const library = (await import(resolve('dist/index.js'))) as object;
  expect(Object.keys(library).toSorted()).toEqual([
    'SandboxError',
    'SettingsError',
    'connectSandbox',
    'startSandbox',
  ]);
});

test('the licenses of the packages in the bundle are shipped with it', () => {
  const licenses = readFileSync('dist/THIRD-PARTY-LICENSES.txt', 'utf8');
  for (const name of [
    'commander',
    'fast-json-stringify',
    'fastify',
    'pino',
    'prom-client',
    're2js',
    'swagger-ui-dist',
    'yaml',
    'zod',
  ]) {
    expect(licenses).toMatch(new RegExp(`^-{80}\\n\\n${name} [\\d.]+ \\([\\w.-]+\\)\\n\\n.{200}`, 'ms'));
  }
});

test('where no other package is installed, the program reads scenarios, matches patterns and answers', async () => {
  const { folder, main } = installed();
  const rules = [
    { name: 'a', match: { remarks: { matches: '^a+$' } }, effect: { respond: { status: 402 } } },
  ];
  writeFileSync(
    join(folder, 'mine.yaml'),
    `# a comment, which JSON has not\nrules: ${JSON.stringify(rules)}`,
  );
  const program = new Program(process.execPath, [main, '--scenario', join(folder, 'mine.yaml')], {});
  const { url } = JSON.parse(await program.says(/.*\n/)) as { url: string };
  const pay = (remarks: string) =>
    fetch(`${url}/payout/initiate`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk_test_a', 'content-type': 'application/json' },
      body: JSON.stringify({
        client_ref_id: remarks,
        beneficiary_name: 'Asha Rao',
        beneficiary_account: '000123456789',
        beneficiary_ifsc: 'SBIN0000001',
        amount: 1,
        transfer_mode: 'IMPS',
        remarks,
      }),
    });
  expect((await pay('aaa')).status).toBe(402);
  const paid = await pay('b');
  expect(await paid.json()).toMatchObject({ status: 'success', data: { client_ref_id: 'b', utr: null } });
  expect(await program.stop()).toMatchObject({ code: 0, stderr: '' });
});

test('where no other package is installed, a test starts the library, with import and with require', async () => {
  const { folder } = installed();
  const use = `const sandbox = await startSandbox();
    const answer = await fetch(sandbox.url + '/client/fetchbalance', { headers: { authorization: 'Bearer sk_test_a' } });
    console.log(answer.status);
    await sandbox.close();`;
  writeFileSync(join(folder, 'a.js'), `import { startSandbox } from 'payout-sandbox'; ${use}`);
  writeFileSync(
    join(folder, 'b.cjs'),
    `const { startSandbox } = require('payout-sandbox'); (async () => { ${use} })();`,
  );
  for (const file of ['a.js', 'b.cjs']) {
    const program = new Program(process.execPath, [join(folder, file)], {});
    expect(await program.ended).toEqual({ code: 0, signal: null, stdout: '200\n', stderr: '' });
  }
});

test.each(['nodenext', 'bundler'])('the types resolve and hold under moduleResolution %s', async (kind) => {
  const { folder } = installed();
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object };
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: 'es2022',
        module: kind === 'nodenext' ? 'nodenext' : 'esnext',
        moduleResolution: kind,
        types: ['node'],
      },
      files: ['right.ts', 'wrong.ts'],
    }),
  );
  writeFileSync(
    join(folder, 'right.ts'),
    `import { startSandbox, SandboxError, type Change, type Sandbox } from 'payout-sandbox';
    const sandbox: Sandbox = await startSandbox({ settlement: 'manual', scenario: { rules: [] } });
    const changes: readonly Change[] = (await sandbox.world().clock.advance('2h')).changes;
    export const states: string[] = changes.map(({ to }) => to);
    export const isRefusal = (error: unknown): boolean => error instanceof SandboxError && error.status === 400;`,
  );
  writeFileSync(
    join(folder, 'wrong.ts'),
    `import { startSandbox } from 'payout-sandbox';
    await startSandbox({ settlement: 'never' });
    await startSandbox({ setlement: 'manual' });
    export const text: string = (await startSandbox()).world();`,
  );
  const tsc = new Program(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], {});
  const { stdout } = await tsc.ended;
  const errors = [...stdout.matchAll(/(\w+\.ts)\((\d+),\d+\): error/g)].map(
    ([, file, line]) => `${file}:${line}`,
  );
  expect(errors).toEqual(['wrong.ts:2', 'wrong.ts:3', 'wrong.ts:4']);
});
