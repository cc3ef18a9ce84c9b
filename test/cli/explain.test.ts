import { expect, test } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { runInProcess } from '../support/program.ts';
import { sandboxFor } from '../support/sandbox.ts';

test('explain has a line for each rule and outcome, with the reason why it applies or not', async () => {
  const { url } = await sandboxFor({ clock: '2026-01-15T10:30:00Z' }); // 16:00 in India
  const key = 'sk_test_explain';
  await connectSandbox({ url })
    .world(key)
    .use({
      outcomes: [
        {
          name: 'neft-returned',
          match: { transfer_mode: 'NEFT' },
          timeline: [
            { to: 'SUCCESS', at: '08:30' },
            { to: 'REVERSED', after: '3d' },
          ],
        },
        { name: 'all-others', timeline: [{ to: 'SUCCESS', after: '2s' }] },
      ],
      rules: [
        {
          name: 'lost-response',
          match: { route: 'initiate', attempt: 1 },
          effect: { commit: true, respond: 500 },
        },
        { name: 'large', match: { amount: { gte: 200_000 } }, effect: { respond: 402 } },
      ],
    });
  const explained = async (...args: string[]) =>
    (await runInProcess(['explain', ...args, '--url', url, '--key', key])).stdout.split('\n');
  expect(await explained('--mode', 'NEFT', '--reference', 'order-1', '--attempt', '2')).toEqual([
    'initiate order-1, attempt 2, 2026-01-15 16:00:00 IST',
    'rules',
    '    lost-response  attempt must be 1, and it is 2',
    '    large          amount must be at least 200000, and it is 1000',
    '  → none: the normal response',
    'outcomes',
    '  → neft-returned  is the first that matches',
    '    all-others     matches, but inline/neft-returned is before it',
    'payout: SUCCESS at 08:30 IST on 2026-01-16, REVERSED after 3d (planned by inline/neft-returned)',
    '',
  ]);
});
