import { useEffect, useRef, useState } from 'preact/hooks';
import { RULE_EFFECTS } from '../control-bar/rule-orders.ts';
import { useAction, useLive, type Said } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { counted } from '../../contract/words.ts';
import { Refusal } from '../ui/marks.tsx';
import { download } from '../world/download.ts';
import { useCheck, type ScenarioProblem } from './text-check.ts';
import css from './scenario.module.css';

interface ProblemsProps {
  readonly kind: 'problem' | 'warning';
  readonly all: readonly ScenarioProblem[];
  readonly goTo: (place: ScenarioProblem) => void;
}

const Problems = ({ kind, all, goTo }: ProblemsProps) => (
  <>
    {all.map((found, index) => (
      <li key={index} data-kind={kind}>
        <Button kind="link" isLocal act={() => goTo(found)}>
          Line {found.line}
        </Button>{' '}
        {kind === 'warning' && 'Warning: '}
        {found.path} {found.message}
      </li>
    ))}
  </>
);

interface Props {
  readonly title: string;
  readonly note: string;
  readonly start: string;
  /** Whether using the text replaces more than what it began with. */
  readonly isChangedElsewhere: boolean;
  /** @returns what it did */
  readonly use: (document: unknown) => Promise<Said>;
  readonly onClose: () => void;
}

/** Where a place is in a text. */
function offsetOf(text: string, { line, column }: ScenarioProblem): number {
  const before = text.split('\n').slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, column - 1);
}

/** Edits a scenario, or the overrides, as YAML. */
export function EditorDialog({ title, note, start, isChangedElsewhere, use, onClose }: Props) {
  const live = useLive();
  const dialog = useRef<HTMLDialogElement>(null);
  const editor = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(start);
  const [isLeaving, setLeaving] = useState(false);
  const { isBusy, refusal, run } = useAction();
  const check = useCheck(live, text);
  const isChecked = check?.text === text;
  const { problems = [], warnings = [], more = 0, document = null } = check?.answer ?? {};
  useEffect(() => {
    dialog.current!.showModal();
    editor.current!.focus();
  }, []);
  const goTo = (found: ScenarioProblem): void => {
    const offset = offsetOf(text, found);
    editor.current!.focus();
    editor.current!.setSelectionRange(offset, offset);
  };
  const change = (changed: string): void => {
    setText(changed);
    setLeaving(false);
  };
  const close = (): void => dialog.current!.close(); // gives the focus back
  const leave = (): void => {
    if (text === start) close();
    else setLeaving(true);
  };
  const apply = (): void =>
    run(async () => {
      const said = await use(document);
      close();
      return said;
    }, RULE_EFFECTS);
  const status = !isChecked
    ? 'Checking'
    : (check.trouble ?? (problems.length > 0 ? counted(problems.length + more, 'problem') : 'No problems'));

  return (
    <dialog
      ref={dialog}
      class={css.dialog}
      aria-labelledby="editor-title"
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault(); // a browser lets a second Escape close any dialog
        if (isLeaving) setLeaving(false);
        else leave();
      }}
      onClose={onClose}
    >
      <header class="buttons">
        <h2 id="editor-title">{title}</h2>
        <p class="note">{note}</p>
      </header>
      <textarea
        class={css.editor}
        ref={editor}
        aria-label={title}
        spellcheck={false}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      <ul class={css.problems} aria-label="Problems">
        <Problems kind="problem" all={problems} goTo={goTo} />
        <Problems kind="warning" all={warnings} goTo={goTo} />
      </ul>
      {isChangedElsewhere && !isBusy && (
        <p class="note" role="alert">
          Another client has changed this since you opened it. Your text will replace that change.
        </p>
      )}
      <Refusal text={refusal} />
      <footer class="buttons">
        {isLeaving ? (
          <>
            <p class="note" role="alert">
              Your changes will be lost when you close this.
            </p>
            <Button isLocal act={() => setLeaving(false)}>
              Keep editing
            </Button>
            <Button isLocal act={close}>
              Discard my changes
            </Button>
          </>
        ) : (
          <>
            <p class="note" role="status">
              {status}
            </p>
            <Button isLocal act={() => download('scenario.yaml', text, 'text/yaml')}>
              Download
            </Button>
            <Button isLocal act={leave}>
              Close
            </Button>
            <Button
              kind="primary"
              isBusy={isBusy}
              off={!isChecked ? 'Checking' : document === null ? 'It has problems' : null}
              act={apply}
            >
              Use for this world
            </Button>
          </>
        )}
      </footer>
    </dialog>
  );
}
