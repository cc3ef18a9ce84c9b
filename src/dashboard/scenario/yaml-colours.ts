import { syntaxTree } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight';

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
export const COLOURS = EditorView.theme({
  '.cm-line::highlight(yaml-key)': { color: 'var(--accent)' },
  '.cm-line::highlight(yaml-value)': { color: 'var(--success)' },
  '.cm-line::highlight(yaml-comment)': { color: 'var(--muted)' },
});

/** Colours the visible text. */
export function paint(view: EditorView): void {
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
