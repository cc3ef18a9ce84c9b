import type { ComponentChildren } from 'preact';
import { rupees } from '../../contract/words.ts';
import { CopyButton } from './button.tsx';
import { istMoment, istShortDay, istTime, plain, utcMoment } from './formats.ts';

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
export const Foreign = ({ text }: { readonly text: string }) => <bdi>{plain(text)}</bdi>;

interface FactProps {
  readonly name: string;
  /** What its button copies; absent or null for no button. */
  readonly copy?: string | null;
  readonly children: ComponentChildren;
}

export const Fact = ({ name, copy = null, children }: FactProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {children} {copy !== null && <CopyButton label="Copy" what={name} text={() => copy} />}
    </dd>
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
