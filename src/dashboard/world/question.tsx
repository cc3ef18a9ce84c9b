interface Props {
  /** What would be lost. */
  readonly text: string;
  readonly verb: string;
  readonly isBusy: boolean;
  readonly onYes: () => void;
  readonly onNo: () => void;
}

/** Asks before something is lost. */
export const Question = ({ text, verb, isBusy, onYes, onNo }: Props) => (
  <div class="question" role="alert">
    <p>{text}</p>
    <div class="buttons">
      <button type="button" class="button" disabled={isBusy} onClick={onYes}>
        {verb}
      </button>
      <button type="button" class="button" disabled={isBusy} onClick={onNo}>
        Cancel
      </button>
    </div>
  </div>
);
