import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { MAIN, Program, runInProcess } from '../support/program.ts';
import { isLong } from '../support/size.ts';
import { folderWith, projectFolder } from '../support/temporary-folder.ts';

/** The files that init writes for a project with this manifest, and the script that judges its tests. */
async function initIn(manifest: object, packages: readonly string[] = []) {
  const folder = projectFolder(packages, manifest);
  const { code, stdout, stderr } = await runInProcess(['init', folder]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  return { folder, stdout, read, script: scripts['referee']! };
}

test('init writes a client, tests, a scenario and a script, and prints the three next commands', async () => {
  const { folder, stdout, read } = await initIn({ name: 'payments', scripts: { test: 'node --test' } });
  expect(stdout).toBe(
    [
      'wrote  payout-sandbox/payout-client.js                a client, to replace with yours',
      'wrote  payout-sandbox/payouts.test.js                 three tests',
      'wrote  payout-sandbox/scenarios/lost-response.yaml    a scenario: the first response is lost',
      'wrote  package.json                                   a script: referee; adapt its --intent to your references',
      `first  cd ${folder}`,
      'next   node --test payout-sandbox/payouts.test.js',
      'next   npm run referee',
      'next   node_modules/.bin/payout-sandbox --port 0 payout-sandbox/scenarios/lost-response.yaml   (serves until Ctrl+C)',
      '',
    ].join('\n'),
  );
  expect(JSON.parse(read('package.json'))).toMatchObject({
    name: 'payments',
    scripts: { test: 'node --test' },
  });
  const scenario = join(folder, 'payout-sandbox/scenarios/lost-response.yaml');
  expect(await runInProcess(['validate', scenario])).toMatchObject({ code: 0, stderr: '' });
});

/** With jest and tsx: .ci/check-consumers. */
test.each<[runner: string, manifest: object]>([
  ['node:test', { type: 'module' }],
  ['node:test with require', {}],
  ...(isLong ? [['vitest', { devDependencies: { vitest: '^4.0.0' } }] as [string, object]] : []),
])('what init writes for %s passes, and the referee finds nothing', async (runner, manifest) => {
  const { folder, script } = await initIn(manifest, runner === 'vitest' ? [runner] : []);
  const command = script
    .replace('payout-sandbox', `"${process.execPath}" "${MAIN}"`)
    .replace('-- vitest', `-- "${process.execPath}" node_modules/vitest/vitest.mjs`);
  const { code, stdout } = await new Program('sh', ['-c', command], { NO_COLOR: '1' }, folder).ended;
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/(?:pass 3\n|3 passed)[^]*\n3 worlds, 3 without findings · .*\n$/),
  });
});

test.each([
  ['vitest typescript', 'commonjs', 'ts', 'vitest payout-sandbox ./payout-client.js', 'vitest run'],
  ['jest', 'commonjs', 'js', '@jest/globals payout-sandbox ./payout-client.js', 'jest'],
  ['jest', 'module', 'js', '@jest/globals payout-sandbox ./payout-client.js', 'jest/bin/jest.js'],
  ['ts-jest typescript', 'commonjs', 'ts', '@jest/globals payout-sandbox ./payout-client', 'jest'],
  [
    'tsx typescript',
    'module',
    'ts',
    'node:assert/strict node:test payout-sandbox ./payout-client.js',
    'tsx --test',
  ],
])(
  'with %s in a project of the type %s, init writes tests in %s',
  async (used, type, extension, modules, command) => {
    const devDependencies = Object.fromEntries(used.split(' ').map((name) => [name, '*']));
    const { read, script } = await initIn({ type, devDependencies });
    const imports = read(`payout-sandbox/payouts.test.${extension}`).matchAll(/(?:from |require\()'(.*?)'/g);
    expect([...imports].map(([, name]) => name).join(' ')).toBe(modules);
    expect(script).toContain(`${command} payout-sandbox`);
  },
);

test('init keeps existing files and scripts, and says what to install first', async () => {
  const manifest = '{\n    "scripts": { "referee": "mine" }\n}\n';
  const folder = folderWith({ 'package.json': manifest });
  const file = join(folder, 'payout-sandbox/payout-client.js');
  mkdirSync(dirname(file));
  writeFileSync(file, 'mine');
  const { stdout } = await runInProcess(['init', folder]);
  expect(stdout).toMatch(/^kept {3}payout-sandbox\/payout-client\.js +it was there already$/m);
  expect(stdout).toMatch(/^kept {3}package\.json +it was there already$/m);
  expect(stdout).toContain('first  npm install --save-dev ./vendor/payout-sandbox-VERSION.tgz');
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(manifest);
});

test('init is refused with one line where its folder cannot be created', async () => {
  const complaint = 'LICENSE/payout-sandbox cannot be created (part of its path is not a folder)';
  const { code, stdout, stderr } = await runInProcess(['init', 'LICENSE']);
  const said = `payout-sandbox: init: ${complaint}\n`;
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: said });
});

test.runIf(process.platform === 'linux')('init refuses a folder below /proc, and does not hang', async () => {
  expect(await runInProcess(['init', '/proc/project'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('/proc/project/payout-sandbox cannot be created'),
  });
});
