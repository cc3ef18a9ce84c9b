import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ControlClient } from '../../client/control-client.ts';
import type { World } from '../../client/controlled-world.ts';
import { sendWithFetch } from '../store/fetch-client.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import type { CheckScenarioResponse } from '../../contract/control-responses.ts';
import { counted } from '../../contract/words.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { messageOf } from '../ui/formats.ts';
import { Refusal } from '../ui/marks.tsx';
import { download } from '../world/download.ts';
import css from './scenario.module.css';

type Problem = CheckScenarioResponse['problems'][number];

/** A text is checked when it has not changed for this long. */
const PAUSE_MS = 300;

/** Asks the sandbox for both forms of a scenario, and its problems. */
const checkScenario = (
  { url, apiKey }: World,
  given: { readonly text: string } | { readonly document: unknown },
): Promise<CheckScenarioResponse> =>
  new ControlClient(sendWithFetch, url, apiKey).post('/scenario/check', given);

/** A text that is being edited: it stays while other views are shown. */
interface Draft {
  readonly world: World;
  readonly text: string;
}

const draft = signal<Draft | null>(null);

/** Begins to edit the scenario of the world as YAML. */
export function EditButton() {
  const { world, scenario } = useLive();
  const { isBusy, refusal, run } = useAction();
  const edit = (): void =>
    run(async () => {
      const { document } = scenario.value!;
      const { text } = await checkScenario(world, { document });
      draft.value = { world, text };
    });
  return (
    <>
      <Button isBusy={isBusy} off={scenario.value === null ? 'Loading' : null} act={edit}>
        Edit as YAML
      </Button>
      <Refusal text={refusal} />
    </>
  );
}

/** A text, and the result of its latest check: a message if the sandbox could not check it. */
interface Check {
  readonly text: string;
  readonly answer: CheckScenarioResponse | string;
}

/** Checks a text whenever its writer pauses. */
function useCheck(world: World, text: string): Check | null {
  const [check, setCheck] = useState<Check | null>(null);
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(async () => {
      const answer = await checkScenario(world, { text }).catch(messageOf);
      if (!isOld) setCheck({ text, answer });
    }, PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [world, text]);
  return check;
}

/** Where a place is in a text. */
function offsetOf(text: string, { line, column }: Problem): number {
  const before = text.split('\n').slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, column - 1);
}

function Editor({ world, text }: Draft) {
  const editor = useRef<HTMLTextAreaElement>(null);
  const { isBusy, refusal, run } = useAction();
  const check = useCheck(world, text);
  const isChecked = check?.text === text;
  const answer = typeof check?.answer === 'object' ? check.answer : null;
  const { problems = [], warnings = [], more = 0, document = null } = answer ?? {};
  useEffect(() => editor.current!.focus(), []);
  const goTo = (found: Problem): void => {
    const offset = offsetOf(text, found);
    editor.current!.focus();
    editor.current!.setSelectionRange(offset, offset);
  };
  const use = (): void =>
    run(async () => {
      await world.use(document as ScenarioInput);
      draft.value = null;
      return 'The world behaves as written.';
    }, ['scenario']);
  const status =
    answer === null
      ? check?.answer
      : problems.length > 0
        ? counted(problems.length + more, 'problem')
        : 'No problems';
  return (
    <div class="block">
      <h3>Its rules and outcomes, for this world only</h3>
      <textarea
        class={css.editor}
        ref={editor}
        aria-label="The scenario as YAML"
        spellcheck={false}
        value={text}
        onInput={(event) => (draft.value = { world, text: event.currentTarget.value })}
      />
      <ul class={css.problems} aria-label="Problems">
        {[...problems, ...warnings].map((found, index) => (
          <li key={index}>
            <Button kind="link" isLocal act={() => goTo(found)}>
              Line {found.line}
            </Button>{' '}
            {index >= problems.length && 'Warning: '}
            {found.path} {found.message}
          </li>
        ))}
      </ul>
      <Refusal text={refusal} />
      <div class="buttons">
        <Button
          kind="primary"
          isBusy={isBusy}
          off={!isChecked ? 'Checking' : document === null ? 'It has problems' : null}
          act={use}
        >
          Use for this world
        </Button>
        <Button isLocal act={() => download('scenario.yaml', text, 'text/yaml')}>
          Download
        </Button>
        <Button isLocal act={() => (draft.value = null)}>
          Discard
        </Button>
        <p class="note" role="status">
          {isChecked ? status : 'Checking'}
        </p>
      </div>
    </div>
  );
}

/** The scenario that is being edited, if it is of this world. */
export function ScenarioEditor() {
  const { world } = useLive();
  return draft.value?.world === world ? <Editor {...draft.value} /> : null;
}
