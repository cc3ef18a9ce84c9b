import { istMoment, istShortDay, istTime, utcMoment } from '../lists/formats.ts';

interface Props {
  readonly at: string | number;
  /** `15 Jan, 10:00:00` instead of `15 Jan 2026, 10:00:00 IST` */
  readonly isShort?: boolean;
}

/** A moment of world time in IST, with UTC on hover. */
export const Moment = ({ at, isShort = false }: Props) => (
  <time dateTime={new Date(at).toISOString()} title={utcMoment(at)}>
    {isShort ? `${istShortDay(at)}, ${istTime(at)}` : istMoment(at)}
  </time>
);
