import { expect, test } from 'vitest';
import type { JournalEntry } from '../../src/contract/control-responses.ts';
import { scoreOf } from '../../src/dashboard/conduct/scorecard.ts';
import { clientFindings, type Found } from '../../src/dashboard/conduct/client-findings.ts';
import type { WorldReport } from '../../src/contract/conduct.ts';

const request = (id: number, change: object = {}): JournalEntry =>
  ({
    id,
    at: `2026-01-15T10:30:0${id}.000Z`,
    route: 'initiate',
    client_ref_id: 'order-1',
    txn_id: null,
    outcome: 'answered',
    answer: { status: 500 },
    request: { headers: {}, path: '/payout/initiate' },
    ...change,
  }) as unknown as JournalEntry;
const finding = (requests: readonly number[], severity = 'error'): Found =>
  ({
    id: 'paid-twice',
    finding: { severity, message: 'paid twice', requests, references: [] },
  }) as unknown as Found;

const failed = request(1, { committed: true, txn_id: 'T1' });

test.each([
  ['after which the client has not asked', failed, [failed], [], 'open'],
  ['that ended in a second payment', failed, [failed], [finding([1, 2])], 'failed'],
  ['that a notice mentions', failed, [failed], [finding([1], 'notice')], 'open'],
] as const)('the score of a failure %s', (_what, entry, rows, found, verdict) => {
  expect(scoreOf(entry, rows, found, () => false).verdict).toBe(verdict);
});

test('findings that are only about requests of the page are left out, and the others stay', () => {
  const marked = request(1, { request: { headers: { 'x-sandbox-dashboard': 'pay' } } });
  const report = {
    counts: { error: 2, warning: 0, notice: 0 },
    checks: [{ id: 'paid-twice', findings: [finding([1]).finding, finding([1, 2]).finding] }],
  } as unknown as WorldReport;
  const found = clientFindings(report, [request(2), marked]);
  expect([found.counts.error, found.ofPage, found.all.length]).toEqual([1, 1, 1]);
});
