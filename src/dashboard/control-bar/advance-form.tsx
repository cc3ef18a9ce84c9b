import { useState } from 'preact/hooks';
import type { AdvanceRequest } from '../../contract/control.ts';
import { Button, submits } from '../ui/button.tsx';
import { duration, istMoment, messageOf } from '../ui/formats.ts';
import { FAR_MS, moveOf, type Move } from './time-words.ts';
import css from './control-bar.module.css';

const SUGGESTIONS = [
  '02:00 IST tomorrow',
  '2h 30m',
  'next step',
  'until idle',
  'Monday 09:00',
  'end of month',
];

function read(text: string, nowMs: number, nextDue: string | null): Move | string {
  try {
    return moveOf(text, nowMs, nextDue);
  } catch (error) {
    return messageOf(error);
  }
}

interface Props {
  readonly nowMs: number;
  readonly nextDue: string | null;
  readonly isBusy: boolean;
  readonly advance: (move: AdvanceRequest) => void;
}

/** Advances the clock to a time in words, and shows beforehand which time that is. */
export function AdvanceForm({ nowMs, nextDue, isBusy, advance }: Props) {
  const [text, setText] = useState('');
  const [sent, setSent] = useState<string | null>(null);
  const move = text.trim() === '' ? null : read(text, nowMs, nextDue);
  const isWrong = typeof move === 'string';
  const atMs = move === null || isWrong ? null : move.atMs;
  const isFar = atMs !== null && atMs - nowMs > FAR_MS;
  const submit = (): void => {
    const isAgain = sent === text;
    setSent(text);
    if (move === null || isWrong || (isFar && !isAgain)) return;
    advance(move.request);
    setText('');
    setSent(null);
  };
  const meaning = atMs === null ? '' : `${istMoment(atMs)}, in ${duration(atMs - nowMs)}`;
  const isRefused = isWrong && sent === text;
  return (
    <form class={css.advance} onSubmit={submits(submit)}>
      <input
        name="advance"
        aria-label="Advance to"
        list="advance-times"
        autoComplete="off"
        placeholder="Advance to"
        value={text}
        aria-invalid={isRefused}
        aria-describedby="advance-meaning"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <datalist id="advance-times">
        {SUGGESTIONS.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
      {move !== null && (
        <Button isSubmit isBusy={isBusy}>
          Go
        </Button>
      )}
      <p class={css.meaning} data-refused={isRefused ? '' : undefined} id="advance-meaning" role="status">
        {isRefused ? move : meaning}
        {isFar && sent === text && '. A clock cannot go back: Go again to confirm.'}
      </p>
    </form>
  );
}
