import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../support/program.ts';
import { PAYOUT } from '../support/sandbox.ts';
import { folderWith } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

const SCENARIO = `
outcomes:
  - { name: neft-returned, match: { transfer_mode: NEFT }, timeline: [{ to: SUCCESS, after: 40m }, { to: REVERSED, after: 3d }] }
  - { name: all-others, timeline: [{ to: SUCCESS, after: 2s }] }
rules:
  - { name: lost-response, match: { route: initiate, attempt: 1 }, effect: { commit: true, respond: 500 } }
  - { name: large, match: { amount: { gte: 200000 } }, effect: { respond: 402 } }
`;

/** Explains a request in a new world of the scenario, when it is 16:00 in India. */
async function explained(request: unknown, scenario = SCENARIO) {
  const folder = folderWith({ 'my.yaml': scenario, 'request.json': JSON.stringify(request) });
  const clock = ['--clock', '2026-01-15T16:00:00+05:30'];
  const files = [join(folder, 'my.yaml'), '--explain', join(folder, 'request.json')];
  const { code, stdout, stderr } = await runInProcess(['validate', ...files, ...clock]);
  return { code, stdout: stdout.replaceAll(`${folder}/`, ''), stderr: stderr.replaceAll(`${folder}/`, '') };
}

test('validate --explain has a line for each rule and outcome, with the reason why it applies or not', async () => {
  const body = { ...PAYOUT, transfer_mode: 'NEFT' };
  const { code, stdout } = await explained({ route: 'initiate', body, attempt: 2 });
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    'my.yaml: ok, 2 rules, 2 outcomes',
    'initiate order-1, attempt 2, 2026-01-15 16:00:00 IST',
    'rules',
    '    lost-response  attempt must be 1, and it is 2',
    '    large          amount must be at least 200000, and it is 1500.5',
    '  → none: the normal response',
    'outcomes',
    '  → neft-returned  is the first that matches',
    '    all-others     matches, but my/neft-returned is before it',
    'payout: SUCCESS after 40m, REVERSED after 3d (planned by my/neft-returned)',
    '',
  ]);
});

test('validate --explain accepts the plain body of an initiate, and counts what a magic account does', async () => {
  const { stdout } = await explained(PAYOUT);
  expect(stdout).toContain('  → lost-response  is the first that matches\n');
  expect(stdout).toContain('payout: SUCCESS after 2s (planned by my/all-others)\n');
  const magic = { route: 'initiate', body: { ...PAYOUT, beneficiary_account: '9999100500' }, attempt: 2 };
  expect((await explained(magic)).stdout).toContain(
    '  → status-500-after-commit  is the first that matches\n',
  );
});

test('validate --explain names the time of day and the date of a step that waits for one', async () => {
  const steps = "[{ to: SUCCESS, at: '08:30' }, { to: REVERSED, at: '08:30' }]";
  const { stdout } = await explained(PAYOUT, `settlement: ${steps}`);
  expect(stdout).toContain(
    'payout: SUCCESS at 08:30 IST on 2026-01-16, REVERSED at 08:30 IST on 2026-01-17 (planned by my)\n',
  );
});

testRows([
  [{ ...PAYOUT, amount: undefined }, 'request.json:1:1 amount is required'],
  [{ route: 'pay' }, 'route must be one of initiate, status, balance'],
  [{ route: 'status' }, 'query is required'],
  [{ route: 'balance', body: PAYOUT }, 'body has no place in a request to balance'],
  [{ route: 'balance', header: {} }, 'header is not known here (did you mean headers?)'],
  [[], 'request.json:1:1 must be a mapping'],
])('validate --explain refuses what it cannot explain', async (request, problem) => {
  const { code, stderr } = await explained(request);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^payout-sandbox: --explain: request\.json/);
  expect(stderr).toContain(problem);
});

test('validate --explain reports the errors of an invalid scenario instead of explaining', async () => {
  expect(await explained(PAYOUT, 'sed: 1')).toEqual({
    code: 1,
    stdout: 'my.yaml:1:1 sed is not known here (did you mean seed?)\n',
    stderr: '',
  });
});
