import { expect, test } from 'vitest';
import { formatUtr, payoutDraw } from '../../src/payout/identity.ts';
import { istMinute, plannedSteps, settlementName, timelineOf } from '../../src/payout/settlement.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const START = '2026-01-15T10:30:00Z';
const startMs = Date.parse(START);
const after = (ms: number): string => new Date(startMs + ms).toISOString();

test.each([
  ['IMPS', 2_000],
  ['UPI', 2_000],
  ['RTGS', 10_000],
  ['NEFT', 20_000],
])('demo: %s succeeds exactly after its delay, and is stamped with that time', async (mode, ms) => {
  const { client } = await sandboxFor({ clock: START });
  const world = client();
  await world.pay({ transfer_mode: mode });
  await world.clock.advance(`${ms - 1}ms`);
  expect((await world.status({ client_ref_id: 'order-1' })).body.data).toMatchObject({
    status: 'PENDING',
    utr: null,
  });
  const { changes } = await world.clock.advance('3d');
  expect(changes).toMatchObject([
    { client_ref_id: 'order-1', from: 'PENDING', to: 'SUCCESS', at: after(ms) },
  ]);
  expect((await world.status({ client_ref_id: 'order-1' })).body.data).toMatchObject({
    status: 'SUCCESS',
    created_at: after(0),
    completed_at: after(ms),
    utr: changes[0]!.utr,
  });
});

test('instant: a payout is PENDING in the response and settled at the next request, even with a frozen clock', async () => {
  const { client } = await sandboxFor({ settlement: 'instant', clock: START });
  const world = client();
  for (const mode of ['IMPS', 'NEFT', 'RTGS', 'UPI']) {
    const paid = await world.pay({ client_ref_id: mode, transfer_mode: mode });
    expect(paid.body.data.status).toBe('PENDING');
    expect((await world.status({ client_ref_id: mode })).body.data).toMatchObject({
      status: 'SUCCESS',
      completed_at: after(0),
    });
  }
});

test('manual: a payout stays PENDING', async () => {
  const { client } = await sandboxFor({ settlement: 'manual', clock: START });
  const world = client();
  await world.pay();
  expect((await world.clock.advance('365d')).changes).toEqual([]);
  expect((await world.status({ client_ref_id: 'order-1' })).body.data.status).toBe('PENDING');
});

test('realistic: every mode settles within the times of its rail, and some payouts hang for days', () => {
  const minute = 60_000;
  const bounds = { IMPS: [2_000, 10_000], UPI: [2_000, 10_000], RTGS: [5 * minute, 30 * minute] } as const;
  let deemed = 0;
  const wrong: string[] = []; // calling `expect` for each of 16,000 payouts would take most of the time
  for (let nth = 0; nth < 4000; nth += 1) {
    const createdAtMs = startMs + nth * 7919;
    for (const mode of ['IMPS', 'UPI', 'RTGS', 'NEFT'] as const) {
      const draw = payoutDraw('seed', `${mode}-${nth}`, 1);
      const timeline = timelineOf(plannedSteps('realistic', mode, createdAtMs, draw), createdAtMs, false);
      const { afterMs, to } = timeline[0]!;
      const waitMs = afterMs!;
      let isRight: boolean;
      if (mode === 'NEFT') {
        const batchMs = Math.floor(createdAtMs / (30 * minute) + 1) * 30 * minute;
        isRight = createdAtMs + waitMs >= batchMs && createdAtMs + waitMs <= batchMs + 120 * minute;
      } else if (waitMs > 30 * minute) {
        deemed += 1;
        const isInDays = waitMs >= 24 * 60 * minute && waitMs <= 72 * 60 * minute;
        isRight = mode !== 'RTGS' && (to === 'SUCCESS' || to === 'FAILED') && isInDays;
      } else {
        isRight = to === 'SUCCESS' && waitMs >= bounds[mode][0] && waitMs <= bounds[mode][1];
      }
      if (!isRight || timeline.length !== 1) wrong.push(`${mode}-${nth}: ${JSON.stringify(timeline)}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(deemed / 8000).toBeGreaterThan(0.01); // of the IMPS and UPI payouts; the seed is fixed, so the count is fixed
  expect(deemed / 8000).toBeLessThan(0.02);
});

testRows([
  ['RTGS', '2026-01-15T10:30:00Z', 'SBXBR52026011523456789'],
  ['RTGS', '2026-01-15T18:29:59.999Z', 'SBXBR52026011523456789'],
  ['RTGS', '2026-01-15T18:30:00Z', 'SBXBR52026011623456789'],
  ['NEFT', '2026-01-15T10:30:00Z', 'SBXBN26015456789'],
  ['NEFT', '2028-12-31T10:30:00Z', 'SBXBN28366456789'],
  ['IMPS', '2026-01-15T18:30:00Z', '601623456789'],
  ['UPI', '2025-12-31T18:29:59Z', '536523456789'],
  ['UPI', '2025-12-31T18:30:00Z', '600123456789'],
] as const)('a UTR has the real format of its mode and the date in IST', (mode, at, utr) => {
  expect(formatUtr(mode, Date.parse(at), 123_456_789)).toBe(utr);
});

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ALMOST = 1 - 2 ** -48;
const rail = (mode: 'IMPS' | 'UPI' | 'RTGS' | 'NEFT', draws: Record<string, number>, createdAtMs = startMs) =>
  plannedSteps(
    'realistic',
    mode,
    createdAtMs,
    (purpose) => draws[purpose] ?? expect.fail(`draws ${purpose}`),
  );

testRows([
  ['IMPS', { deemed: 0.015, delay: 0 }, 'SUCCESS', 2 * SECOND],
  ['UPI', { deemed: 0.5, delay: ALMOST }, 'SUCCESS', 10 * SECOND],
  ['UPI', { deemed: 0.0149, outcome: 0.499, delay: 0 }, 'SUCCESS', DAY],
  ['IMPS', { deemed: 0, outcome: 0.5, delay: ALMOST }, 'FAILED', 3 * DAY],
  ['RTGS', { delay: 0 }, 'SUCCESS', 5 * MINUTE],
  ['RTGS', { delay: ALMOST }, 'SUCCESS', 30 * MINUTE],
  ['NEFT', { delay: 0 }, 'SUCCESS', 30 * MINUTE], // created at the start of a batch, it goes with the next one
  ['NEFT', { delay: ALMOST }, 'SUCCESS', 150 * MINUTE],
] as const)('realistic: a mode and a draw give the outcome and its time', (mode, draws, to, afterMs) => {
  expect(rail(mode, draws)).toEqual([{ to, when: { afterMs }, utr: null }]);
});

test('realistic: NEFT is settled in the next half-hourly batch', () => {
  const waits = [1, MINUTE, 30 * MINUTE - 1].map((ms) => rail('NEFT', { delay: 0 }, startMs + ms)[0]!.when);
  expect(waits).toEqual([30 * MINUTE - 1, 29 * MINUTE, 1].map((afterMs) => ({ afterMs })));
});

test('each mode can have its own settlement, by a preset or by steps, which gives it its name', () => {
  const steps = [{ to: 'FAILED', when: { afterMs: 5 }, utr: null }] as const;
  const settlement = { IMPS: 'instant', UPI: 'manual', RTGS: 'demo', NEFT: steps } as const;
  const modes = ['IMPS', 'UPI', 'RTGS', 'NEFT'] as const;
  const planned = modes.map((mode) => plannedSteps(settlement, mode, startMs, () => expect.fail('draws')));
  const success = (afterMs: number) => [{ to: 'SUCCESS', when: { afterMs }, utr: null }];
  expect(planned).toEqual([success(0), [], success(10 * SECOND), steps]);
  expect(modes.map((mode) => settlementName(settlement, mode, 'mine'))).toEqual([
    'instant',
    'manual',
    'demo',
    'mine',
  ]);
  expect(settlementName('realistic', 'UPI', 'mine')).toBe('realistic');
});

test('minutes of the day are in IST', () => {
  const minutes = ['T18:29:59.999Z', 'T18:30:00Z', 'T00:00:00Z', 'T00:00:59.999Z', 'T00:01:00Z'];
  expect(minutes.map((time) => istMinute(Date.parse(`2026-01-15${time}`)))).toEqual([1439, 0, 330, 330, 331]);
});

test('a step at a minute of the day waits for the next such minute in IST', () => {
  const dueAt = (created: string, atMinute: number) => {
    const createdAtMs = Date.parse(created);
    const [step] = timelineOf([{ to: 'SUCCESS', when: { atMinute }, utr: null }], createdAtMs, false);
    return new Date(createdAtMs + step!.afterMs!).toISOString();
  };
  expect(dueAt('2026-01-15T18:29:59.999Z', 0)).toBe('2026-01-15T18:30:00.000Z');
  expect(dueAt('2026-01-15T18:30:00.000Z', 0)).toBe('2026-01-16T18:30:00.000Z'); // not the instant of its creation
  expect(dueAt('2026-01-15T18:30:00.000Z', 1)).toBe('2026-01-15T18:31:00.000Z');
  expect(dueAt('2026-01-15T10:30:00.000Z', 1439)).toBe('2026-01-15T18:29:00.000Z');
  expect(dueAt('2026-01-15T10:30:00.000Z', 959)).toBe('2026-01-16T10:29:00.000Z');
});

test('payouts that settle at a minute of the day each wait for it from their own creation', () => {
  const planned = [
    { to: null, when: { afterMs: 1 }, utr: true },
    { to: 'SUCCESS', when: { atMinute: 0 }, utr: null },
  ] as const;
  const waits = ['2026-01-15T18:29:00Z', '2026-01-15T17:30:00Z'].map((created) =>
    timelineOf(planned, Date.parse(created), false).map(({ afterMs }) => afterMs),
  );
  expect(waits).toEqual([
    [1, MINUTE],
    [1, HOUR],
  ]);
});

test('steps keep their order, wait for their time or for reads, and have a UTR if money reached the rail', () => {
  const planned = [
    { to: null, when: { afterMs: 9 }, utr: true },
    { to: 'SUCCESS', when: { afterMs: 5 }, utr: null },
    { to: null, when: { polls: 2 }, utr: null },
    { to: 'REVERSED', when: { afterMs: 7 }, utr: false },
  ] as const;
  const step = (to: string | null, afterMs: number | null, polls: number | null, utr: boolean) =>
    ({ to, afterMs, polls, utr, forced: false }) as const;
  expect(timelineOf(planned, 100, false)).toEqual([
    step(null, 9, null, true),
    step('SUCCESS', 9, null, true),
    step(null, null, 2, false),
    step('REVERSED', 9, null, false),
  ]);
  const failed = [{ to: 'FAILED', when: { afterMs: 0 }, utr: null }] as const;
  expect([true, false].map((has) => timelineOf(failed, 100, has)[0]!.utr)).toEqual([true, false]);
});

test('UTRs have the day of the year, padded parts, and a bank from the first digit of their serial', () => {
  const [first, last] = ['2026-01-01T00:00:00+05:30', '2026-12-31T23:59:59.999+05:30'].map(Date.parse) as [
    number,
    number,
  ];
  expect([first - 1, first, last, last + 1].map((ms) => formatUtr('NEFT', ms, 0))).toEqual([
    'SBXAN25365000000',
    'SBXAN26001000000',
    'SBXAN26365000000',
    'SBXAN27001000000',
  ]);
  expect(formatUtr('RTGS', first, 900_000_007)).toBe('SBXJR52026010100000007');
  expect(formatUtr('IMPS', Date.parse('2030-02-03T00:00:00Z'), 99_999_999)).toBe('003499999999');
  expect(formatUtr('NEFT', Date.parse('2005-02-03T00:00:00Z'), 101_999_999)).toBe('SBXBN05034999999');
  expect(formatUtr('NEFT', Date.parse('2005-02-03T00:00:00Z'), 2_000_000)).toBe('SBXAN05034000000');
});
