import type { ComponentChildren } from 'preact';
import { rupees } from '../../contract/words.ts';
import { istMoment, istShortDay, istTime, utcMoment } from './formats.ts';

interface MomentProps {
  readonly at: string | number;
  /** `15 Jan, 10:00:00` instead of `15 Jan 2026, 10:00:00 IST` */
  readonly isShort?: boolean;
}

/** A moment of world time in IST, with UTC on hover. */
export const Moment = ({ at, isShort = false }: MomentProps) => (
  <time dateTime={new Date(at).toISOString()} title={utcMoment(at)}>
    {isShort ? `${istShortDay(at)}, ${istTime(at)}` : istMoment(at)}
  </time>
);

/** An amount with its sign and its paise in the background. */
export function Amount({ inr }: { readonly inr: number }) {
  const [, sign, whole, paise] = /^(-?₹)([\d,]+)(\.\d+)$/.exec(rupees(inr))!;
  return (
    <span class="number">
      <span class="dim">{sign}</span>
      {whole}
      <span class="dim">{paise}</span>
    </span>
  );
}

/** A text of a client, which can neither change the direction of what follows nor hide characters. */
export const Foreign = ({ text }: { readonly text: string }) => (
  <bdi>{text.replaceAll(/\p{C}/gu, '\uFFFD')}</bdi>
);

export const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

interface RefusalProps {
  readonly text: string | null;
  /** For the field that it is about. */
  readonly id?: string;
}

/** Why an action or an input was refused. */
export const Refusal = ({ text, id }: RefusalProps) =>
  text === null ? null : (
    <p class="notice" role="alert" id={id}>
      {text}
    </p>
  );

/** The place of something that is not loaded yet. */
export const Skeleton = ({ width }: { readonly width: number }) => (
  <span class="skeleton" style={{ width: `${width}ch` }} aria-label="Loading" role="img" />
);
