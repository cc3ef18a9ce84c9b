import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Column<T> {
  readonly name: string;
  readonly className: string;
  readonly cell: (row: T) => ComponentChildren;
  /** What the first column shows next to the name that opens the row. */
  readonly beside?: (row: T) => ComponentChildren;
}

interface Props<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** The accessible name of a row. */
  readonly nameOf: (row: T) => string;
  /** Whether a row is highlighted because money is at risk. */
  readonly isAtRisk: (row: T) => boolean;
  readonly opened: string | null;
  readonly onOpen: (key: string) => void;
}

/** Below this width in px, a row has two lines. */
const NARROW = 620;
const ROW = 38;
const NARROW_ROW = 58;
/** A finger needs more room than a mouse. */
const TOUCH_ROW = 44;
const isTouched = matchMedia('(pointer: coarse)');
/** How many rows are rendered beyond the visible ones, so that scrolling shows no gaps. */
const BEYOND = 8;

const focusActive = (element: HTMLElement): void =>
  element.querySelector<HTMLElement>('[data-active] button')?.focus({ preventScroll: true });

/** A table of any length that renders only its visible rows. It is one tab stop; the arrow keys move between rows. */
export function VirtualTable<T>({ label, rows, columns, keyOf, nameOf, isAtRisk, opened, onOpen }: Props<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 400, width: 1000 });
  const [active, setActive] = useState<string | null>(null);
  const topRow = useRef<string | null>(null);
  const isFocusWanted = useRef(false);
  const isNarrow = seen.width < NARROW;
  const height = isNarrow ? NARROW_ROW : isTouched.matches ? TOUCH_ROW : ROW;

  const look = (): void => {
    const { scrollTop, clientHeight, clientWidth } = scroller.current!;
    setSeen((was) =>
      was.top === scrollTop && was.height === clientHeight && was.width === clientWidth
        ? was
        : { top: scrollTop, height: clientHeight, width: clientWidth },
    );
  };

  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);

  const first = Math.max(0, Math.min(Math.floor(seen.top / height), rows.length - 1));
  const from = Math.max(0, first - BEYOND);
  const shown = rows.slice(from, first + Math.ceil(seen.height / height) + BEYOND);

  // New rows above do not move the rows that are being read, unless the list is scrolled to the top.
  useLayoutEffect(() => {
    const element = scroller.current!;
    if (element.scrollTop > 0 && topRow.current !== null) {
      const index = rows.findIndex((row) => keyOf(row) === topRow.current);
      if (index >= 0 && index !== first) element.scrollTop += (index - first) * height;
    }
    look();
  }, [rows]);
  useLayoutEffect(() => {
    topRow.current = rows[first] === undefined ? null : keyOf(rows[first]);
  });

  useLayoutEffect(() => {
    if (!isFocusWanted.current) return;
    isFocusWanted.current = false;
    focusActive(scroller.current!);
  });
  // Closing the details removed the focused element, so the focus returns to the row.
  const wasOpened = useRef(opened);
  useEffect(() => {
    if (wasOpened.current !== null && opened === null && document.activeElement === document.body) {
      focusActive(scroller.current!);
    }
    wasOpened.current = opened;
  }, [opened]);

  const focus = (index: number): void => {
    const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
    if (row === undefined) return;
    const key = keyOf(row);
    const element = scroller.current!;
    const top = rows.indexOf(row) * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + height - element.clientHeight;
    }
    look();
    setActive(key);
    isFocusWanted.current = true;
  };

  const activeIndex = rows.findIndex((row) => keyOf(row) === active);
  const isActiveShown = activeIndex >= from && activeIndex < from + shown.length;
  const stop = isActiveShown ? activeIndex : first;

  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(seen.height / height) - 1);
    const to = {
      ArrowDown: stop + 1,
      ArrowUp: stop - 1,
      PageDown: stop + page,
      PageUp: stop - page,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    focus(to);
  };

  return (
    <div
      class={isNarrow ? 'table narrow' : 'table'}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
    >
      <div class="table-head" role="rowgroup">
        <div class="row" role="row" aria-rowindex={1}>
          {columns.map(({ name, className }) => (
            <span key={name} role="columnheader" class={className}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div
        class="table-body"
        ref={scroller}
        role="rowgroup"
        style={{ height: `min(${rows.length * height}px, var(--longest-list))` }}
        onScroll={look}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" style={{ height: `${rows.length * height}px` }}>
          {shown.map((row, offset) => {
            const index = from + offset;
            const key = keyOf(row);
            return (
              <div
                key={key}
                class={`row${key === opened ? ' opened' : ''}${isAtRisk(row) ? ' at-risk' : ''}`}
                role="row"
                aria-rowindex={index + 2}
                data-active={index === stop ? '' : undefined}
                style={{ transform: `translateY(${index * height}px)`, height: `${height}px` }}
              >
                {columns.map(({ name, className, cell, beside }, nth) => (
                  <span key={name} role="cell" class={className}>
                    {nth === 0 ? (
                      <>
                        <button
                          type="button"
                          class="row-open"
                          tabIndex={index === stop ? 0 : -1}
                          aria-label={`Open ${nameOf(row)}`}
                          aria-pressed={key === opened}
                          onClick={() => {
                            setActive(key);
                            onOpen(key);
                          }}
                        >
                          {cell(row)}
                        </button>
                        {beside?.(row)}
                      </>
                    ) : (
                      cell(row)
                    )}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
