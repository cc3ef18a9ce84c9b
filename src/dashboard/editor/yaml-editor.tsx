import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { completionAt, type Completion, type Option, type Schema } from './suggestions.ts';

const LINE_PX = 20;
const MOST_SHOWN = 8;
const INDENT = '  ';

/** The JSON Schema of scenario files, loaded with the first editor. */
const loadSchema = async (): Promise<Schema> =>
  (await import('../../../fixtures/scenario.schema.json')).default;

/** Writes as the keyboard does, so that undo works. `execCommand` is the only way to do that, and every browser has it. */
function write(area: HTMLTextAreaElement, from: number, text: string): void {
  area.setSelectionRange(from, area.selectionEnd);
  if (!document.execCommand('insertText', false, text))
    area.setRangeText(text, from, area.selectionEnd, 'end');
}

/** The indentation of the next line: as deep as this one, or deeper after a key without a value. */
function indentAfter(before: string): string {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const [indent = ''] = /^\s*(?:- +)*/.exec(line) ?? [];
  return ' '.repeat(indent.length) + (/:\s*$/.test(line) ? INDENT : '');
}

/** The line and the column of a place in a text, counted from 0. */
function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length - 1, column: lines.at(-1)!.length };
}

interface Open extends Completion {
  readonly active: number;
  readonly line: number;
  readonly column: number;
}

interface Props {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** Problems and warnings, by line from 1. */
  readonly marks: ReadonlyMap<number, 'problem' | 'warning'>;
  /** The place to go to. A new object each time, even for the same place. */
  readonly goTo: { readonly line: number; readonly column: number } | null;
}

/** A text field for YAML, with line numbers, marks at lines, and completion by the schema of scenarios. */
export function YamlEditor({ label, text, onText, marks, goTo }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const schema = useRef<Schema | null>(null);
  /** Whether a completion is wanted for what was written before the schema was loaded. */
  const isAwaited = useRef(false);
  const [open, setOpen] = useState<Open | null>(null);
  const [scrolled, setScrolled] = useState({ top: 0, left: 0 });
  useEffect(() => {
    const ignore = (): void => undefined; // without completion, the editor is a text field
    const begin = (loaded: Schema): void => {
      schema.current = loaded;
      if (isAwaited.current && area.current !== null) complete(false);
    };
    loadSchema().then(begin, ignore);
  }, []);
  useLayoutEffect(() => {
    if (goTo === null) return;
    const lines = text.split('\n').slice(0, goTo.line - 1);
    const offset = lines.reduce((sum, line) => sum + line.length + 1, 0) + goTo.column - 1;
    area.current!.focus();
    area.current!.setSelectionRange(offset, offset);
    area.current!.scrollTop = Math.max(0, (goTo.line - 4) * LINE_PX);
  }, [goTo]);

  const complete = (isWanted: boolean): void => {
    const { value, selectionStart: at, selectionEnd } = area.current!;
    const isWriting = isWanted || /[\w.-]/.test(value[at - 1] ?? '');
    const found =
      schema.current === null || at !== selectionEnd || !isWriting
        ? null
        : completionAt(value, at, schema.current);
    isAwaited.current = schema.current === null && isWriting;
    setOpen(found === null ? null : { ...found, active: 0, ...lineAndColumn(value, found.from) });
  };
  const close = (): void => {
    isAwaited.current = false;
    setOpen(null);
  };
  const take = ({ insert }: Option): void => {
    area.current!.focus();
    write(area.current!, open!.from, insert);
    setOpen(null);
  };
  const move = (by: number): void =>
    setOpen((was) => was && { ...was, active: (was.active + by + was.options.length) % was.options.length });

  const onKeyDown = (event: KeyboardEvent): void => {
    const handled = (act: () => void): void => {
      event.preventDefault();
      event.stopPropagation();
      act();
    };
    if (event.key === ' ' && (event.ctrlKey || event.metaKey)) return handled(() => complete(true));
    if (open !== null) {
      if (event.key === 'ArrowDown') return handled(() => move(1));
      if (event.key === 'ArrowUp') return handled(() => move(-1));
      if (event.key === 'Escape') return handled(() => setOpen(null));
      if (event.key === 'Enter' || event.key === 'Tab')
        return handled(() => take(open.options[open.active]!));
    }
    if (event.key === 'Enter' && !event.isComposing) {
      const { value, selectionStart: at } = area.current!;
      handled(() => write(area.current!, at, `\n${indentAfter(value.slice(0, at))}`));
    }
  };

  const first =
    open === null ? 0 : Math.max(0, Math.min(open.active - MOST_SHOWN + 1, open.options.length - MOST_SHOWN));
  return (
    <div class="editor">
      <div class="gutter" aria-hidden="true">
        <ol style={{ transform: `translateY(${-scrolled.top}px)` }}>
          {text.split('\n').map((_line, index) => (
            <li key={index} class={`has-${marks.get(index + 1) ?? 'nothing'}`}>
              {index + 1}
            </li>
          ))}
        </ol>
      </div>
      <textarea
        ref={area}
        aria-label={label}
        aria-autocomplete="list"
        aria-controls={open === null ? undefined : 'completions'}
        aria-activedescendant={open === null ? undefined : `completion-${open.active}`}
        autoComplete="off"
        autocapitalize="off"
        spellcheck={false}
        wrap="off"
        value={text}
        onInput={(event) => {
          onText(event.currentTarget.value);
          complete(false);
        }}
        onKeyDown={onKeyDown}
        onBlur={close}
        onClick={close}
        onScroll={({ currentTarget: { scrollTop: top, scrollLeft: left } }) => setScrolled({ top, left })}
      />
      {open !== null && (
        <ul
          id="completions"
          class="completions"
          role="listbox"
          aria-label="Completions"
          style={{
            top: `${(open.line + 1) * LINE_PX - scrolled.top}px`,
            left: `calc(${open.column}ch - ${scrolled.left}px)`,
          }}
        >
          {open.options.slice(first, first + MOST_SHOWN).map((option, offset) => (
            <li
              key={option.label}
              id={`completion-${first + offset}`}
              role="option"
              aria-selected={first + offset === open.active}
              onMouseDown={(event) => {
                event.preventDefault(); // the text keeps the focus
                take(option);
              }}
            >
              <code>{option.label}</code> <span class="note">{option.note}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
