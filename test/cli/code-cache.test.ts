import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram, startProgram } from '../support/program.ts';

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'code-cache-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const kept = (folder: string): string[] =>
  readdirSync(join(folder, 'payout-sandbox')).map((name) => join(folder, 'payout-sandbox', name));

test('what a start has compiled is kept for the next one, for nobody else to read or write', async () => {
  const XDG_CACHE_HOME = emptyFolder();
  const first = await startProgram({ XDG_CACHE_HOME });
  expect(await first.program.stop()).toMatchObject({ code: 0, stderr: '' });
  const [file, ...others] = kept(XDG_CACHE_HOME);
  expect(others).toEqual([]);
  expect(statSync(file!)).toMatchObject({ mode: 0o100600 });
  expect(statSync(file!).size).toBeGreaterThan(100_000);
  const { mtimeMs } = statSync(file!);
  const second = await startProgram({ XDG_CACHE_HOME });
  expect(await second.program.stop()).toMatchObject({ code: 0, stderr: '' });
  expect(statSync(file!).mtimeMs).toBe(mtimeMs); // taken, and not made again
});

test('compiled code that is broken, or of another build, is made anew', async () => {
  const XDG_CACHE_HOME = emptyFolder();
  await runProgram(['--version'], { XDG_CACHE_HOME });
  const [file] = kept(XDG_CACHE_HOME);
  const whole = readFileSync(file!);
  writeFileSync(file!, whole.subarray(0, 5000));
  writeFileSync(file!.replace(/-[^-]+$/, '-of-another-build'), whole);
  expect(await runProgram(['--version'], { XDG_CACHE_HOME })).toMatchObject({ code: 0, stderr: '' });
  expect(kept(XDG_CACHE_HOME)).toEqual([file]);
  expect(readFileSync(file!).length).toBeGreaterThan(5000);
});

test.each([
  ['where nothing can be written', { XDG_CACHE_HOME: '/dev/null' }],
  ['where there is no home', { XDG_CACHE_HOME: '', HOME: '/dev/null' }],
])('the program starts as well %s', async (_where, environment) => {
  const { program } = await startProgram(environment);
  expect(await program.stop()).toMatchObject({ code: 0, stderr: '' });
});

test('NODE_DISABLE_COMPILE_CACHE keeps nothing', async () => {
  const XDG_CACHE_HOME = emptyFolder();
  const environment = { XDG_CACHE_HOME, NODE_DISABLE_COMPILE_CACHE: '1' };
  expect(await runProgram(['--version'], environment)).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(XDG_CACHE_HOME)).toEqual([]);
});

test('compiled code that others may write is not taken', async () => {
  const XDG_CACHE_HOME = emptyFolder();
  await runProgram(['--version'], { XDG_CACHE_HOME });
  const [file] = kept(XDG_CACHE_HOME);
  const { mtimeMs } = statSync(file!);
  chmodSync(file!, 0o666);
  await runProgram(['--version'], { XDG_CACHE_HOME });
  expect(statSync(file!)).toMatchObject({ mode: 0o100600 });
  expect(statSync(file!).mtimeMs).toBeGreaterThan(mtimeMs);
});
