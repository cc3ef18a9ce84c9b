import { expect } from 'vitest';
import { runInProcess } from '../support/program.ts';
import { testRows } from '../support/test-rows.ts';

testRows<[args: string[], says: string]>([
  [['completion', 'bash'], 'completion was removed: payout-sandbox --help --all lists the commands'],
  [['rule', 'from', '1'], 'rule from was removed: write the rule by hand'],
  [['validate', 'my.yaml', '--explain', 'pay.json'], 'validate --explain was removed: use explain'],
  [['hunt', '--known', 'hunt.json', '--', 'true'], '--known was removed: choose what a hunt looks for'],
  [
    ['matrix', '--dialects', 'one-row', '--', 'true'],
    'there is no one-row: use all, none, lenient, strict, terse',
  ],
])('what is gone is refused with what to do instead', async (args, says) => {
  expect(await runInProcess(args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(says),
  });
});
