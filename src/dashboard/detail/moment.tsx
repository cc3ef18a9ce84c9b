import { istMoment, istShortDay, istTime, utcMoment } from '../lists/formats.ts';

const FORMATS = {
  full: istMoment,
  short: (at: string | number) => `${istShortDay(at)}, ${istTime(at)}`,
  time: istTime,
} as const;

interface Props {
  readonly at: string | number;
  /** `15 Jan 2026, 10:00:00 IST`, `15 Jan, 10:00:00` or `10:00:00` */
  readonly as?: keyof typeof FORMATS;
}

/** A moment of world time in IST, with UTC on hover. */
export const Moment = ({ at, as = 'full' }: Props) => (
  <time dateTime={new Date(at).toISOString()} title={utcMoment(at)}>
    {FORMATS[as](at)}
  </time>
);
