import { expect, test } from 'vitest';
import { moveOf } from '../../src/dashboard/control-bar/time-words.ts';
import { testRows } from '../support/test-rows.ts';

const NOW = Date.parse('2026-01-15T10:30:00Z'); // Thursday, 16:00 IST
const NEXT = '2026-01-15T10:30:02.000Z';

const timeOf = (text: string): string => new Date(moveOf(text, NOW, NEXT).atMs!).toISOString();

testRows([
  ['02:00 IST tomorrow', '2026-01-15T20:30:00.000Z'],
  ['tomorrow at 2 am', '2026-01-15T20:30:00.000Z'],
  ['02:00', '2026-01-15T20:30:00.000Z'], // the next time that it is 02:00
  ['18:30', '2026-01-15T13:00:00.000Z'],
  ['11:00 UTC', '2026-01-15T11:00:00.000Z'],
  ['12 pm tomorrow', '2026-01-16T06:30:00.000Z'],
  ['midnight', '2026-01-15T18:30:00.000Z'],
  ['tomorrow', '2026-01-15T18:30:00.000Z'],
  ['Friday 09:15:30', '2026-01-16T03:45:30.000Z'],
  ['thursday 09:00', '2026-01-22T03:30:00.000Z'], // it is past on this one
  ['1 Dec 9:30 UTC', '2026-12-01T09:30:00.000Z'],
  ['1 January', '2026-12-31T18:30:00.000Z'], // of the next year
  ['28 Feb 2028 noon', '2028-02-28T06:30:00.000Z'],
  ['2026-12-01 05:30', '2026-12-01T00:00:00.000Z'],
  ['2026-12-01T05:30:00+05:30', '2026-12-01T00:00:00.000Z'],
  ['2026-12-01T00:00:00Z', '2026-12-01T00:00:00.000Z'],
  ['3d', '2026-01-18T10:30:00.000Z'],
  ['in 2 hours and 30 minutes', '2026-01-15T13:00:00.000Z'],
  ['the next settlement', NEXT],
  ['next friday', '2026-01-15T18:30:00.000Z'],
  ['next week', '2026-01-22T10:30:00.000Z'],
  ['end of month', '2026-01-31T18:29:00.000Z'],
])('the clock can be sent to a time in words', (text, time) => {
  expect(timeOf(text)).toBe(time);
});

test('a duration is sent to the sandbox as a duration, a time as a time', () => {
  expect(moveOf('90s', NOW, null).request).toEqual({ by: '90000ms' });
  expect(moveOf('11:00 utc', NOW, null).request).toEqual({ to: '2026-01-15T11:00:00.000Z' });
  expect(moveOf('until idle', NOW, null)).toEqual({ request: { until: 'idle' }, atMs: null });
});

testRows([
  ['', /such as/],
  ['soon', /such as/],
  ['friendly 9:00', /such as/],
  ['5', /such as/],
  ['02:00 tomorrow please', /such as/],
  ['tomorrow 1 Dec', /such as/],
  ['-3d', /never goes back/],
  ['25:00', /not a time of day/],
  ['13 pm', /not a time of day/],
  ['12:60', /not a time of day/],
  ['31 Feb', /no such date/],
  ['2026-13-01', /no such date/],
  ['today 09:00', /past/],
  ['100000000d', /beyond the year 9999/],
])('a time that is not understood is refused with a sentence that says why', (text, message) => {
  expect(() => moveOf(text, NOW, NEXT)).toThrow(message);
});

test('there is no next step while nothing is scheduled', () => {
  expect(() => moveOf('next step', NOW, null)).toThrow('Nothing is scheduled.');
});
