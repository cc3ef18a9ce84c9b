import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, indentOnInput, syntaxTree } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { searchKeymap } from '@codemirror/search';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight';
import type { CheckScenarioResponse } from '../../contract/control-responses.ts';
import schema from '../../../fixtures/scenario.schema.json';
import { completionAt } from './suggestions.ts';

/** The editor of scenarios: CodeMirror, with problems at their places and completion by the schema. Loaded with the first dialog. */

export type ScenarioProblem = CheckScenarioResponse['problems'][number];
export type YamlEditor = ReturnType<typeof openEditor>;

/** In the colours of the page, which reach into the editor. */
const LOOK = EditorView.theme({
  '&': { height: '100%', background: 'var(--sunken)', color: 'var(--text)', fontSize: '12.5px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { border: '0', background: 'none', color: 'var(--muted)' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'var(--accent-soft)' },
  '.cm-tooltip, .cm-panels': { background: 'var(--surface)', color: 'var(--text)' },
  '.cm-tooltip li[aria-selected]': { background: 'var(--accent-ground)', color: 'var(--on-accent)' },
});

/**
 * Colours the text of the editor with highlights (`CSS.highlights`), which leave its elements as they are. Text that replaces a
 * coloured element gets an inline style in Chromium, which the policy of the dashboard forbids. Older browsers show no colours.
 */

const KINDS = tagHighlighter([
  { tag: tags.propertyName, class: 'yaml-key' },
  { tag: [tags.content, tags.string, tags.attributeValue], class: 'yaml-value' },
  { tag: [tags.lineComment, tags.meta], class: 'yaml-comment' },
]);

/** The colour of each kind, as a theme. */
const COLOURS = EditorView.theme({
  '.cm-line::highlight(yaml-key)': { color: 'var(--accent)' },
  '.cm-line::highlight(yaml-value)': { color: 'var(--success)' },
  '.cm-line::highlight(yaml-comment)': { color: 'var(--muted)' },
});

/** Colours the visible text. */
function paint(view: EditorView): void {
  if (!('highlights' in CSS)) return;
  const ranges = new Map<string, Range[]>([
    ['yaml-key', []],
    ['yaml-value', []],
    ['yaml-comment', []],
  ]);
  const { from, to } = view.viewport;
  const take = (start: number, end: number, kind: string): void => {
    const [first, last] = [view.domAtPos(start), view.domAtPos(end)];
    const range = new Range();
    range.setStart(first.node, first.offset);
    range.setEnd(last.node, last.offset);
    ranges.get(kind)!.push(range);
  };
  highlightTree(syntaxTree(view.state), KINDS, take, from, to);
  for (const [kind, all] of ranges) CSS.highlights.set(kind, new Highlight(...all));
}

function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const text = state.doc.toString();
  if (!explicit && !/[\w.-]/.test(text[pos - 1] ?? '')) return null;
  return completionAt(text, pos, schema);
}

/** Opens an editor in an element, and gives it the focus. @param change gets every new text */
export function openEditor(parent: HTMLElement, label: string, text: string, change: (text: string) => void) {
  // in a shadow tree, since there its styles need no style element, which the page's own policy forbids
  const root = parent.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root,
    root,
    doc: text,
    extensions: [
      lineNumbers(),
      foldGutter(),
      lintGutter(),
      history(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      LOOK,
      yaml(),
      COLOURS,
      autocompletion({ override: [complete], icons: false }),
      keymap.of([...completionKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorView.updateListener.of(({ docChanged, state, view: changed }) => {
        paint(changed);
        if (docChanged) change(state.doc.toString());
      }),
    ],
  });
  view.focus();
  const offsetOf = ({ line, column }: ScenarioProblem): number => {
    const { from, to } = view.state.doc.line(Math.min(line, view.state.doc.lines));
    return Math.min(from + column - 1, to);
  };
  const diagnosticOf =
    (severity: Diagnostic['severity']) =>
    (problem: ScenarioProblem): Diagnostic => {
      const from = offsetOf(problem);
      return { from, to: view.state.wordAt(from)?.to ?? from, severity, message: problem.message };
    };
  return {
    mark: (problems: readonly ScenarioProblem[], warnings: readonly ScenarioProblem[]): void => {
      const found = [...problems.map(diagnosticOf('error')), ...warnings.map(diagnosticOf('warning'))];
      view.dispatch(setDiagnostics(view.state, found));
    },
    goTo: (place: ScenarioProblem): void => {
      view.dispatch({ selection: { anchor: offsetOf(place) }, scrollIntoView: true });
      view.focus();
    },
    close: (): void => view.destroy(),
  };
}
