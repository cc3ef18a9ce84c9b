import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { nextSort, type Sortable } from './list-filter.ts';
import { Foreign } from '../ui/marks.tsx';
import { useSize } from '../ui/size.ts';
import css from './table.module.css';

interface Column<T> extends Sortable<T> {
  readonly className: string | undefined;
  readonly cell: (row: T, live: LiveWorld) => ComponentChildren;
}

/** A field of a row that can be sorted. */
type Field<T> = { [K in keyof T]: T[K] extends string | number | null ? K : never }[keyof T];

/**
 * A column.
 *
 * @param name its first word names it in addresses
 * @param by what it is sorted by: a field of the row, or what a function makes of the row
 * @param cell what it shows, unless that is the value as a text
 */
export function column<T>(
  name: string,
  className: string | undefined,
  by: Field<T> | ((row: T) => string | number),
  cell?: Column<T>['cell'],
): Column<T> {
  const value = typeof by === 'function' ? by : (row: T) => (row[by] ?? '') as string | number;
  const text = (row: T) => <Foreign text={String(value(row))} />;
  return { key: name.split(/\W/, 1)[0]!.toLowerCase(), name, className, value, cell: cell ?? text };
}

/** What a table shows of its rows. */
export interface Rows<T> {
  readonly title: string;
  /** The widths of its columns, as a class. */
  readonly layout: string | undefined;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** The accessible name of a row. */
  readonly nameOf: (row: T) => string;
  /** Whether a row is highlighted because money is at risk. */
  readonly isAtRisk: (row: T, live: LiveWorld) => boolean;
}

interface Props<T> {
  readonly kind: Rows<T>;
  readonly rows: readonly T[];
  /** The order of the rows, as the filter has it. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly opened: string | null;
  readonly onOpen: (key: string) => void;
}

/** Below this width in px, a row has two lines. */
const NARROW = 648;
const ROW = 32;
const NARROW_ROW = 54;
/** A finger needs more room than a mouse. */
const TOUCH_ROW = 44;
const isTouched = matchMedia('(pointer: coarse)');
/** How many rows are rendered beyond the visible ones, so that scrolling shows no gaps. */
const BEYOND = 8;

/** Whether the page is printed: then all rows are rendered. */
const isPrinted = signal(false);
addEventListener('beforeprint', () => (isPrinted.value = true));
addEventListener('afterprint', () => (isPrinted.value = false));

const focusActive = (element: HTMLElement): void =>
  element.querySelector<HTMLElement>('[data-active] button')?.focus({ preventScroll: true });

/** The place of each row by its key. */
const useIndex = <T,>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, number> =>
  useMemo(() => new Map(rows.map((row, index) => [keyOf(row), index])), [rows]);

const orderOf = (sort: string, key: string): 'ascending' | 'descending' | undefined =>
  sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : undefined;

/** A table of any length that renders only its visible rows. They are one tab stop; the arrow keys move between them. */
export function VirtualTable<T>({ kind, rows, sort, onSort, opened, onOpen }: Props<T>) {
  const { title, layout, columns, keyOf, nameOf, isAtRisk } = kind;
  const live = useLive();
  const scroller = useRef<HTMLDivElement>(null);
  const size = useSize(scroller);
  const [top, setTop] = useState(0);
  const [active, setActive] = useState<string | null>(null);
  const topRow = useRef<string | null>(null);
  const isFocusWanted = useRef(false);
  const isNarrow = size.width < NARROW;
  const height = isNarrow ? NARROW_ROW : isTouched.matches ? TOUCH_ROW : ROW;
  // functions below read the rows here: one that is kept for long would keep its rows, too
  const list = useRef(rows);
  list.current = rows;

  const look = (): void => {
    const { scrollTop } = scroller.current!;
    const first = list.current[Math.floor(scrollTop / height)];
    topRow.current = first === undefined ? null : keyOf(first);
    setTop(scrollTop);
  };

  const indexOf = useIndex(rows, keyOf);
  const first = Math.max(0, Math.min(Math.floor(top / height), rows.length - 1));
  const from = isPrinted.value ? 0 : Math.max(0, first - BEYOND);
  const last = isPrinted.value ? rows.length : first + Math.ceil(size.height / height) + BEYOND;
  const shown = rows.slice(from, last);

  // New rows above do not move the rows that are being read, unless the list is scrolled to the top.
  useLayoutEffect(() => {
    const element = scroller.current!;
    if (element.scrollTop > 0 && topRow.current !== null) {
      const index = indexOf.get(topRow.current);
      const now = Math.floor(element.scrollTop / height);
      if (index !== undefined) element.scrollTop += (index - now) * height;
    }
    look();
  }, [rows]);
  useLayoutEffect(() => {
    if (!isFocusWanted.current) return;
    isFocusWanted.current = false;
    focusActive(scroller.current!);
  });
  // A link leads to its row, which stays in sight until somebody scrolls.
  const isFollowed = useRef(true);
  const unfollow = (): void => void (isFollowed.current = false);
  useLayoutEffect(() => void (isFollowed.current = true), [opened]);
  useLayoutEffect(() => {
    if (!isFollowed.current) return;
    const index = opened === null ? undefined : indexOf.get(opened);
    const element = scroller.current!;
    const top = (index ?? 0) * height;
    if (
      index === undefined ||
      (top >= element.scrollTop && top < element.scrollTop + element.clientHeight - height)
    )
      return;
    element.scrollTop = top - element.clientHeight / 2;
    look();
  }, [opened, indexOf.size > 0, size.height]);
  // Closing the details removed the focused element, so the focus returns to the row.
  const wasOpened = useRef(opened);
  useLayoutEffect(() => {
    if (opened !== null) setActive(opened);
    if (wasOpened.current !== null && opened === null && document.activeElement === document.body) {
      focusActive(scroller.current!);
    }
    wasOpened.current = opened;
  }, [opened]);

  const focus = (index: number): void => {
    const row = list.current.at(Math.max(0, Math.min(index, list.current.length - 1)));
    if (row === undefined) return;
    const key = keyOf(row);
    const element = scroller.current!;
    const top = indexOf.get(key)! * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + height - element.clientHeight;
    }
    look();
    setActive(key);
    isFocusWanted.current = true;
  };

  const activeIndex = indexOf.get(active ?? '') ?? -1;
  const isActiveShown = activeIndex >= from && activeIndex < from + shown.length;
  const stop = isActiveShown ? activeIndex : first;

  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(size.height / height) - 1);
    const to = {
      ArrowDown: stop + 1,
      j: stop + 1,
      ArrowUp: stop - 1,
      k: stop - 1,
      PageDown: stop + page,
      PageUp: stop - page,
      Home: 0,
      End: list.current.length - 1,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    focus(to);
  };

  return (
    <div
      class={`${css.table} ${layout}`}
      data-narrow={isNarrow ? '' : undefined}
      role="table"
      aria-label={sort === '' ? `${title}, newest first` : title}
      aria-rowcount={rows.length + 1}
    >
      <div class={css.head} role="rowgroup">
        <div class={css.row} role="row" aria-rowindex={1}>
          {columns.map(({ key, name, className }) => (
            <span key={key} role="columnheader" class={className} aria-sort={orderOf(sort, key)}>
              <button type="button" class={css.sort} onClick={() => onSort(nextSort(sort, key))}>
                {name}
              </button>
            </span>
          ))}
        </div>
      </div>
      <div
        class={css.body}
        ref={scroller}
        role="rowgroup"
        onScroll={look}
        onWheel={unfollow}
        onPointerDown={unfollow}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" style={{ height: `${rows.length * height}px` }}>
          {shown.map((row, offset) => {
            const index = from + offset;
            const key = keyOf(row);
            return (
              <div
                key={key}
                class={css.row}
                data-opened={key === opened ? '' : undefined}
                data-risk={isAtRisk(row, live) ? '' : undefined}
                data-changed={live.changed.value.has(key) ? '' : undefined}
                role="row"
                aria-rowindex={index + 2}
                data-active={index === stop ? '' : undefined}
                style={{ transform: `translateY(${index * height}px)`, height: `${height}px` }}
                onClick={() => {
                  if (getSelection()?.isCollapsed !== false) onOpen(key); // otherwise its text was selected
                }}
              >
                {columns.map(({ key: column, className, cell }, nth) => (
                  <span key={column} role="cell" class={className}>
                    {nth > 0 ? (
                      cell(row, live)
                    ) : (
                      <button
                        type="button"
                        class={css.open}
                        tabIndex={index === stop ? 0 : -1}
                        aria-label={`Open ${nameOf(row)}`}
                        aria-pressed={key === opened}
                      >
                        {cell(row, live)}
                      </button>
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
