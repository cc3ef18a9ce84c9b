import { useState } from 'preact/hooks';
import type { AdvanceRequest } from '../../contract/control.ts';
import { duration, istMoment, messageOf } from '../lists/formats.ts';
import { moveOf, type Move } from './time-words.ts';

const SUGGESTIONS = ['02:00 IST tomorrow', '2h 30m', 'next step', 'Monday 09:00'];

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
  const [isSent, setSent] = useState(false);
  const move = text.trim() === '' ? null : read(text, nowMs, nextDue);
  const isWrong = typeof move === 'string';
  const atMs = move === null || isWrong ? null : move.atMs;
  return (
    <form
      class="world-form"
      onSubmit={(event) => {
        event.preventDefault();
        setSent(isWrong);
        if (move === null || isWrong) return;
        advance(move.request);
        setText('');
      }}
    >
      <label class="field">
        <span>Advance to</span>
        <input
          name="advance"
          list="advance-times"
          autoComplete="off"
          placeholder={SUGGESTIONS[0]}
          value={text}
          aria-invalid={isWrong && isSent}
          aria-describedby="advance-meaning"
          onInput={(event) => {
            setText(event.currentTarget.value);
            setSent(false);
          }}
        />
        <datalist id="advance-times">
          {SUGGESTIONS.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      </label>
      <button type="submit" class="button" disabled={isBusy || move === null}>
        Go
      </button>
      <p class={isWrong && isSent ? 'refusal' : 'note'} id="advance-meaning">
        {isWrong && isSent && move}
        {atMs !== null && `${istMoment(atMs)}, in ${duration(atMs - nowMs)}`}
      </p>
    </form>
  );
}
