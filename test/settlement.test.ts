import { expect, test } from 'vitest';
import { sha256 } from '../src/runtime/digest.ts';
import { payoutDraw } from '../src/domain/identity.ts';
import { plannedSteps, timelineOf } from '../src/domain/settlement.ts';
import { formatUtr } from '../src/domain/utr.ts';
import { sandboxFor } from './support/sandbox.ts';

const START = '2026-01-15T10:30:00Z';
const startMs = Date.parse(START);
const after = (ms: number): string => new Date(startMs + ms).toISOString();

test.each([
  ['IMPS', 2_000],
  ['UPI', 2_000],
  ['RTGS', 10_000],
  ['NEFT', 20_000],
])('demo: %s succeeds after its time and not before, stamped with that time', async (mode, ms) => {
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

test('instant: PENDING in the answer, settled at the next look, in a clock that stands still', async () => {
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

test('manual: nothing moves, however long one waits', async () => {
  const { client } = await sandboxFor({ settlement: 'manual', clock: START });
  const world = client();
  await world.pay();
  expect((await world.clock.advance('365d')).changes).toEqual([]);
  expect((await world.status({ client_ref_id: 'order-1' })).body.data.status).toBe('PENDING');
});

test('realistic: every mode keeps to the times of its rail, and some payouts hang for days', () => {
  const minute = 60_000;
  const bounds = { IMPS: [2_000, 10_000], UPI: [2_000, 10_000], RTGS: [5 * minute, 30 * minute] } as const;
  let deemed = 0;
  for (let nth = 0; nth < 4000; nth += 1) {
    const createdAtMs = startMs + nth * 7919;
    for (const mode of ['IMPS', 'UPI', 'RTGS', 'NEFT'] as const) {
      const draw = payoutDraw(sha256, 'seed', `${mode}-${nth}`, 1);
      const timeline = timelineOf(plannedSteps('realistic', mode, createdAtMs, draw), createdAtMs, false);
      expect(timeline).toHaveLength(1);
      const { dueMs, to } = timeline[0]!;
      const waitMs = dueMs! - createdAtMs;
      if (mode === 'NEFT') {
        const batchMs = Math.floor(createdAtMs / (30 * minute) + 1) * 30 * minute;
        expect(dueMs).toBeGreaterThanOrEqual(batchMs);
        expect(dueMs).toBeLessThanOrEqual(batchMs + 120 * minute);
      } else if (waitMs > 30 * minute) {
        deemed += 1;
        expect(mode).not.toBe('RTGS');
        expect(['SUCCESS', 'FAILED']).toContain(to);
        expect(waitMs).toBeGreaterThanOrEqual(24 * 60 * minute);
        expect(waitMs).toBeLessThanOrEqual(72 * 60 * minute);
      } else {
        expect(to).toBe('SUCCESS');
        expect(waitMs).toBeGreaterThanOrEqual(bounds[mode][0]);
        expect(waitMs).toBeLessThanOrEqual(bounds[mode][1]);
      }
    }
  }
  expect(deemed / 8000).toBeGreaterThan(0.01); // of the IMPS and UPI payouts; the seed is fixed, so is the count
  expect(deemed / 8000).toBeLessThan(0.02);
});

test.each([
  ['RTGS', '2026-01-15T10:30:00Z', 'SBXBR52026011523456789'],
  ['RTGS', '2026-01-15T18:29:59.999Z', 'SBXBR52026011523456789'],
  ['RTGS', '2026-01-15T18:30:00Z', 'SBXBR52026011623456789'],
  ['NEFT', '2026-01-15T10:30:00Z', 'SBXBN26015456789'],
  ['NEFT', '2028-12-31T10:30:00Z', 'SBXBN28366456789'],
  ['IMPS', '2026-01-15T18:30:00Z', '601623456789'],
  ['UPI', '2025-12-31T18:29:59Z', '536523456789'],
  ['UPI', '2025-12-31T18:30:00Z', '600123456789'],
] as const)('a UTR of %s at %s has its real shape and the date in IST', (mode, at, utr) => {
  expect(formatUtr(mode, Date.parse(at), 123_456_789)).toBe(utr);
});
