import { Refusal } from '../ui/marks.tsx';

interface Props {
  readonly value: string;
  /** Why the last key was not accepted. */
  readonly refusal: string | null;
  readonly onInput: (key: string) => void;
}

/** The field for the key of a world, with its error. */
export function KeyField({ value, refusal, onInput }: Props) {
  return (
    <>
      <label class="field">
        <span>API key</span>
        <input
          name="key"
          autoComplete="off"
          spellcheck={false}
          required
          value={value}
          aria-invalid={refusal !== null}
          aria-describedby={refusal === null ? undefined : 'refusal'}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      <Refusal text={refusal} id="refusal" />
    </>
  );
}
