import { Button } from '../ui/button.tsx';

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
      <Button isBusy={isBusy} act={onYes}>
        {verb}
      </Button>
      <Button isBusy={isBusy} isLocal act={onNo}>
        Cancel
      </Button>
    </div>
  </div>
);
