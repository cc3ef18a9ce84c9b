import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAIN, Program, type Ended } from '../support/program.ts';

/** Runs the program in a shell. @param line in which `P` is the program */
const inShell = (line: string): Promise<Ended> =>
  new Program('sh', ['-c', `P() { "${process.execPath}" "${MAIN}" "$@"; }; ${line}`], {}).ended;

test.skipIf(!existsSync('/dev/full'))(
  'output to a full disk is a failure with exit code 2 and one line; a command that failed before keeps its exit code',
  async () => {
    const stderr = 'payout-sandbox: standard output cannot be written (no space left on the disk)\n';
    expect(await inShell('P --help > /dev/full')).toMatchObject({ code: 2, stderr });
    const invalidAndValid = 'P validate package.json fixtures/init/scenarios/lost-response.yaml';
    expect(await inShell(`${invalidAndValid} > /dev/full`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(stderr),
    });
  },
);

test('a reader that closes the pipe early, such as head, is not a failure', async () => {
  const { stdout, stderr } = await inShell('{ P scenarios --json; echo "exit code $?" >&2; } | head -1');
  expect({ stdout, stderr }).toEqual({ stdout: '[\n', stderr: 'exit code 0\n' });
});
