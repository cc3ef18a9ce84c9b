import { expect, test } from 'vitest';
import { TRANSFER_MODES } from '../../src/contract/service.ts';
import { istMinute, plannedSteps, type SettlementPreset } from '../../src/payout/settlement.ts';
import { readSettings } from '../../src/settings.ts';

const MINUTE = 60_000;

/** The planned steps of each mode. */
const stepsByMode = (preset: SettlementPreset, createdAtMs: number, draw: number) =>
  Object.fromEntries(
    TRANSFER_MODES.map((mode) => {
      const steps = plannedSteps(preset, mode, createdAtMs, () => draw);
      return [mode, steps.map(({ to, when }) => [to, when])];
    }),
  );

const succeeds = (afterMs: number) => [['SUCCESS', { afterMs }]];

test.each<[SettlementPreset, Record<string, unknown>]>([
  ['demo', { IMPS: succeeds(2000), NEFT: succeeds(20_000), RTGS: succeeds(10_000), UPI: succeeds(2000) }],
  ['instant', { IMPS: succeeds(0), NEFT: succeeds(0), RTGS: succeeds(0), UPI: succeeds(0) }],
  ['manual', { IMPS: [], NEFT: [], RTGS: [], UPI: [] }],
  [
    'realistic',
    {
      IMPS: succeeds(6000),
      NEFT: succeeds(29 * MINUTE + 60 * MINUTE),
      RTGS: succeeds(17.5 * MINUTE),
      UPI: succeeds(6000),
    },
  ],
])('%s is a settlement preset with its own steps for each mode', (preset, planned) => {
  expect(readSettings({ settlement: preset }, {}).settlement).toBe(preset);
  expect(stepsByMode(preset, MINUTE, 0.5)).toEqual(planned);
});

test('realistic: an IMPS or UPI payout that hangs ends after one to three days', () => {
  const day = 24 * 60 * MINUTE;
  expect(stepsByMode('realistic', 0, 0).IMPS).toEqual(succeeds(day));
  const steps = plannedSteps('realistic', 'UPI', 0, (purpose) =>
    purpose === 'deemed' ? 0.0149 : 0.9999999999,
  );
  expect(steps).toEqual([{ to: 'FAILED', when: { afterMs: 3 * day }, utr: null }]);
});

test('a day in IST begins at 18:30 UTC', () => {
  const of = (text: string) => istMinute(Date.parse(`2026-01-15T${text}Z`));
  expect([of('18:29:59.999'), of('18:30'), of('18:30:59.999'), of('18:31')]).toEqual([1439, 0, 0, 1]);
  expect(of('00:00')).toBe(330);
});
