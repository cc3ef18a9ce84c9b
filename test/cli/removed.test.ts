import { expect } from 'vitest';
import { runInProcess } from '../support/program.ts';
import { testRows } from '../support/test-rows.ts';

testRows<[args: string[], says: string]>([
  [['completion', 'bash'], 'completion was removed: payout-sandbox --help --all lists the commands'],
  [['rule', 'from', '1'], 'rule from was removed: write the rule by hand'],
  [['validate', 'my.yaml', '--explain', 'pay.json'], 'validate --explain was removed: use explain'],
  [['status', '--time-zone', 'UTC'], '--time-zone was removed: people read times in IST'],
  [['scenario', 'show'], 'scenario show was removed: use scenario'],
  [
    ['examine', 'traffic.json'],
    'examine was removed: judge the client while it runs: payout-sandbox referee --',
  ],
  [['referee', '--junit-checks', '--', 'true'], '--junit-checks was removed: --verbose has each check'],
  [['snapshot', 'save', 'x', '--before', '9'], '--before was removed: save the snapshot'],
  [
    ['matrix', '--dialects', 'one-row', '--', 'true'],
    'there is no one-row: use all, none, lenient, strict, terse, ',
  ],
  [['matrix', '--scenarios', 'hidden-resends', '--', 'true'], 'there is no scenario hidden-resends'],
])('what is gone is refused with what to do instead', async (args, says) => {
  expect(await runInProcess(args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(says),
  });
});
