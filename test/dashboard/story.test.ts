import { expect, test } from 'vitest';
import type { JournalEntry, TransactionResponse } from '../../src/contract/control-responses.ts';
import { gapText, storyMarkdown, storyOf } from '../../src/dashboard/payouts/two-lanes.ts';

const at = (second: number): string => `2026-01-15T10:30:${String(second).padStart(2, '0')}.000Z`;
const NOW = Date.parse(at(30));

const payout = {
  txn_id: 'T1',
  client_ref_id: 'order|1',
  status: 'SUCCESS',
  amount: 5000,
  transfer_mode: 'IMPS',
  created_at: at(0),
  timeline: [
    { to: 'SUCCESS', at: at(2), polls: null, utr: true, done: true, forced: false },
    { to: 'REVERSED', at: '2026-01-18T10:30:00.000Z', polls: null, utr: false, done: false, forced: false },
  ],
} as unknown as TransactionResponse;

const request = (id: number, second: number, change: object): JournalEntry =>
  ({
    id,
    at: at(second),
    route: 'status',
    outcome: 'answered',
    committed: null,
    fault: null,
    ...change,
  }) as JournalEntry;
const lost = request(1, 0, { route: 'initiate', committed: true, answer: { status: 500, body: {} } });
const told = request(2, 9, { answer: { status: 200, body: { data: { status: 'SUCCESS' } } } });

const linesOf = (requests: readonly JournalEntry[]) =>
  storyOf(payout, [], requests, NOW).map(({ bank, client, gap, known }) => [
    bank,
    client,
    gap && gapText(gap, known),
  ]);

test('bank and client stand side by side, and a lost response is a gap with the time that it lasted', () => {
  expect(linesOf([lost, told])).toEqual([
    ['PENDING', '#1 initiate → 500', ''],
    ['SUCCESS, with its UTR', null, 'client not told for 9 s, and the money is out'],
    [null, '#2 status → 200, SUCCESS', null],
    ['REVERSED', null, null],
  ]);
});

test('while nobody has told the client, the gap goes on until now', () => {
  expect(linesOf([lost]).map(([, , gap]) => gap)).toEqual([
    '',
    'client not told for 30 s, and the money is out',
    null,
  ]);
});

test('a client that knows an earlier state is behind, which is no lost money', () => {
  const answered = {
    ...lost,
    answer: { status: 200, body: { data: { status: 'PENDING' } } },
  } as unknown as JournalEntry;
  expect(linesOf([answered])).toContainEqual([
    'SUCCESS, with its UTR',
    null,
    'client saw only PENDING for 28 s',
  ]);
});

test('what the client was told stays in the story when its request has left the journal', () => {
  const known = { ...payout, told: { request: 2, at: at(9), as: 'SUCCESS' } } as TransactionResponse;
  const lines = storyOf(known, [], [], NOW);
  expect(lines.map(({ client, gap }) => [client, gap && gapText(gap, null)])).toEqual([
    [null, ''],
    [null, 'client not told for 9 s, and the money is out'],
    ['#2 → SUCCESS', null],
    [null, null],
  ]);
  expect(storyOf(known, [], [lost, told], NOW)).toEqual(storyOf(payout, [], [lost, told], NOW));
});

test('the story is a table in Markdown, whatever its texts contain', () => {
  const text = storyMarkdown(payout, storyOf(payout, [], [lost, told], NOW));
  expect(text.split('\n').slice(0, 7)).toEqual([
    '**order\\|1**, IMPS, −₹5,000.00, SUCCESS',
    '',
    '| world time | bank | your client |',
    '| --- | --- | --- |',
    '| 15 Jan 2026, 16:00:00 IST | PENDING | #1 initiate → 500 |',
    '| 15 Jan 2026, 16:00:02 IST | SUCCESS, with its UTR |  |',
    '| | | **client not told for 9 s, and the money is out** |',
  ]);
  expect(text).toContain('(scheduled) | REVERSED |');
});
