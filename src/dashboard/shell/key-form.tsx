import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, submits } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import css from './shell.module.css';

interface Props {
  /** The key to begin with. */
  readonly start: string;
  /** Why the last key was not accepted. */
  readonly refusal: string | null;
  readonly isBusy?: boolean;
  readonly onKey: (key: string) => void;
  /** What else can be done, with what is in the field. */
  readonly other: (key: string) => ComponentChildren;
  readonly intro: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Asks for the key of a world, on a page of its own. */
export function KeyForm({ start, refusal, isBusy = false, onKey, other, intro, children }: Props) {
  const [key, setKey] = useState(start);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current!.select(), []); // what led here, such as a button of the last world, is gone
  return (
    <main class={css.signIn}>
      <div class={css.card}>
        <h1>Payout sandbox</h1>
        <p>{intro}</p>
        <form onSubmit={submits(() => onKey(key.trim()))}>
          <label class="field">
            <span>API key</span>
            <input
              ref={field}
              name="key"
              autoComplete="off"
              spellcheck={false}
              required
              value={key}
              aria-invalid={refusal !== null}
              aria-describedby={refusal === null ? undefined : 'refusal'}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          </label>
          <Refusal text={refusal} id="refusal" />
          <div class="buttons">
            <Button isSubmit kind="primary" isBusy={isBusy}>
              Show this world
            </Button>
            {other(key)}
          </div>
        </form>
        {children}
      </div>
    </main>
  );
}
