import { useEffect, useRef, useState } from 'preact/hooks';
import type { CheckScenarioAnswer } from '../../contract/control/check-call.ts';
import { useAction } from '../live/action.ts';
import { plural } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { download } from '../world/download.ts';
import { useCheck } from './text-check.ts';
import { YamlEditor } from './yaml-editor.tsx';
import { Refusal } from '../detail/refusal.tsx';

type Finding = CheckScenarioAnswer['problems'][number];

interface FindingsProps {
  readonly kind: 'problem' | 'warning';
  readonly all: readonly Finding[];
  readonly goTo: (place: Finding) => void;
}

const Findings = ({ kind, all, goTo }: FindingsProps) => (
  <>
    {all.map((found, index) => (
      <li key={index} class={`is-${kind}`}>
        <button type="button" class="link" onClick={() => goTo({ ...found })}>
          Line {found.line}
        </button>{' '}
        {kind === 'warning' && 'Warning: '}
        {found.path} {found.message}
      </li>
    ))}
  </>
);

interface Props {
  readonly live: LiveWorld;
  readonly title: string;
  readonly note: string;
  readonly start: string;
  readonly use: (document: unknown) => Promise<void>;
  readonly onClose: () => void;
}

/** Edits a scenario, or the rules on top, as YAML. */
export function EditorDialog({ live, title, note, start, use, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(start);
  const [goTo, setGoTo] = useState<{ line: number; column: number } | null>(null);
  const [isLeaving, setLeaving] = useState(false);
  const { isBusy, refusal, run } = useAction();
  const check = useCheck(live, text);
  const isChecked = check?.text === text;
  const { problems = [], warnings = [], more = 0, document = null } = check?.answer ?? {};
  const marks = new Map([
    ...warnings.map(({ line }) => [line, 'warning'] as const),
    ...problems.map(({ line }) => [line, 'problem'] as const),
  ]);
  useEffect(() => {
    dialog.current!.showModal();
    setGoTo({ line: 1, column: 1 });
  }, []);
  const leave = (): void => {
    if (text === start) onClose();
    else setLeaving(true);
  };
  const apply = (): void =>
    run(async () => {
      await use(document);
      onClose();
    });
  const status = !isChecked
    ? 'Checking'
    : (check.trouble ?? (problems.length > 0 ? plural(problems.length + more, 'problem') : 'No problems'));

  return (
    <dialog
      ref={dialog}
      class="editor-dialog"
      aria-labelledby="editor-title"
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // a browser lets a second Escape close any dialog
        if (isLeaving) setLeaving(false);
        else leave();
      }}
      onClose={onClose}
    >
      <header class="card-head">
        <h2 id="editor-title">{title}</h2>
        <p class="note">{note}</p>
      </header>
      <YamlEditor label={title} text={text} onText={setText} marks={marks} goTo={goTo} />
      <ul class="editor-findings" aria-label="Problems">
        <Findings kind="problem" all={problems} goTo={setGoTo} />
        <Findings kind="warning" all={warnings} goTo={setGoTo} />
      </ul>
      <Refusal text={refusal} />
      <footer class="buttons">
        {isLeaving ? (
          <>
            <p class="note" role="alert">
              Your changes will be lost when you close this.
            </p>
            <button type="button" class="button" onClick={() => setLeaving(false)}>
              Keep editing
            </button>
            <button type="button" class="button" onClick={onClose}>
              Discard my changes
            </button>
          </>
        ) : (
          <>
            <p class="note" role="status">
              {status} · Ctrl+Space completes
            </p>
            <button type="button" class="button" onClick={() => download('scenario.yaml', 'text/yaml', text)}>
              Download
            </button>
            <button type="button" class="button" onClick={leave}>
              Close
            </button>
            <button
              type="button"
              class="button primary"
              disabled={isBusy || !isChecked || document === null}
              onClick={apply}
            >
              Use for this world
            </button>
          </>
        )}
      </footer>
    </dialog>
  );
}
