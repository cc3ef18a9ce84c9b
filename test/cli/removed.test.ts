import { expect } from 'vitest';
import { runInProcess } from '../support/program.ts';
import { testRows } from '../support/test-rows.ts';

testRows<[args: string[], says: string]>([
  [['completion', 'bash'], 'completion was removed: payout-sandbox --help --all lists the commands'],
  [['rule', 'from', '1'], 'rule from was removed: write the rule by hand'],
  [['validate', 'my.yaml', '--explain', 'pay.json'], 'validate --explain was removed: use explain'],
  [['status', '--time-zone', 'UTC'], '--time-zone was removed: people read times in IST'],
  [['freeze'], 'freeze was removed: use clock freeze'],
  [['request', '7', '--json'], 'request was removed: use journal NUMBER'],
  [['scenario', 'show'], 'scenario show was removed: use scenario'],
  [['rule', 'list'], 'rule list was removed: use scenario'],
  [
    ['probe', 'http://127.0.0.1:1', '--level', 'pay'],
    'probe was removed: write the dialect by hand: docs/fidelity.md',
  ],
  [
    ['examine', 'traffic.json'],
    'examine was removed: judge the client while it runs: payout-sandbox referee --',
  ],
  [['referee', '--junit-checks', '--', 'true'], '--junit-checks was removed: --verbose has each check'],
  [['rewind', '3'], 'rewind was removed: undo takes back'],
  [['snapshot', 'save', 'x', '--before', '9'], '--before was removed: save the snapshot'],
  [
    ['matrix', '--require-exercised', '--', 'true'],
    '--require-exercised was removed: the last line of matrix counts',
  ],
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
