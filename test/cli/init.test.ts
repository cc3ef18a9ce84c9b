import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MAIN, Program, runInProcess } from '../support/program.ts';
import { isLong } from '../support/size.ts';
import { projectFolder, temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('init writes a scenario, a compose file and a test that passes, and says how to run it', async () => {
  const folder = projectFolder([], { name: 'payments' });
  const { code, stdout, stderr } = await runInProcess(['init', folder]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(
    [
      'wrote  payout-sandbox/scenarios/lost-response.yaml  a scenario: the first response to each payout is lost',
      'wrote  payout-sandbox/compose.yaml                  a sandbox in a container, with that scenario',
      'wrote  payout-sandbox/payouts.test.mjs              a first test, with a client to replace with yours',
      `next   cd ${folder} && node --test payout-sandbox/payouts.test.mjs`,
      '',
    ].join('\n'),
  );
  const command = [MAIN, 'referee', '--', process.execPath, '--test', 'payout-sandbox/payouts.test.mjs'];
  const written = await new Program(process.execPath, command, {}, folder).ended;
  expect(written).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/pass 1\n[^]*\n {2}\d+ checks passed · /),
  });
  const scenario = join(folder, 'payout-sandbox/scenarios/lost-response.yaml');
  expect(await runInProcess(['validate', scenario])).toMatchObject({ code: 0, stderr: '' });
});

test('init keeps existing files, and says what to install first', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'payout-sandbox/compose.yaml');
  mkdirSync(dirname(file));
  writeFileSync(file, 'mine');
  const { stdout } = await runInProcess(['init', folder]);
  expect(stdout).toContain('kept   payout-sandbox/compose.yaml                  it was there already\n');
  expect(stdout).toContain(
    `first  cd ${folder} && npm install --save-dev ${join(ROOT, '.')}\nnext   node --test`,
  );
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test('init writes its test for vitest where a project has it', async () => {
  const folder = projectFolder([], { devDependencies: { vitest: '^4.0.0' } });
  const testFile = 'payout-sandbox/payouts.test.mjs';
  expect((await runInProcess(['init', folder])).stdout).toContain('npx vitest run payout-sandbox\n');
  const text = readFileSync(join(folder, testFile), 'utf8');
  expect(text).toContain("from 'vitest'");
  expect(text).not.toContain('node:test');
  if (!isLong) return;
  symlinkSync(join(ROOT, 'node_modules/vitest'), join(folder, 'node_modules/vitest'));
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const written = await new Program(process.execPath, [vitest, 'run', 'payout-sandbox'], {}, folder).ended;
  expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed') });
});

test('init is refused with one line where its folder cannot be created', async () => {
  const complaint = 'LICENSE/payout-sandbox/scenarios cannot be created (part of its path is not a folder)';
  const { code, stdout, stderr } = await runInProcess(['init', 'LICENSE']);
  const said = `payout-sandbox: init: ${complaint}\n`;
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: said });
});

test.runIf(process.platform === 'linux')('init refuses a folder below /proc, and does not hang', async () => {
  expect(await runInProcess(['init', '/proc/project'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('/proc/project/payout-sandbox/scenarios cannot be created'),
  });
});
