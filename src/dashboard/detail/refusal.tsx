interface Props {
  /** null shows nothing. */
  readonly text: string | null;
  /** For the field that it is about. */
  readonly id?: string;
}

/** Why an action or an input was refused. */
export const Refusal = ({ text, id }: Props) =>
  text === null ? null : (
    <p class="refusal" role="alert" id={id}>
      {text}
    </p>
  );
