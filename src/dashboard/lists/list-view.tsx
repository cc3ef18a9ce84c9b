import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { countedOf } from '../ui/formats.ts';
import { Foreign } from '../ui/marks.tsx';
import { sorted, type ListFilter } from './list-filter.ts';
import { VirtualTable, type Rows } from './virtual-table.tsx';

interface PanelProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The opened item, beside its list or, on a narrow page, instead of it. Escape closes it. */
function Panel({ title, onClose, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const body = useRef<HTMLDivElement>(null);
  // at once: the next key may be meant for what it moves the focus to
  useLayoutEffect(() => {
    heading.current!.focus({ preventScroll: true });
    body.current!.scrollTop = 0;
  }, [title]);
  return (
    <div class="panel" role="region" aria-label={title}>
      <header>
        <h2 tabIndex={-1} ref={heading}>
          <Foreign text={title} />
        </h2>
        <Button kind="small" isLocal act={onClose}>
          Close
        </Button>
      </header>
      <div class="panel-body" ref={body}>
        {children}
      </div>
    </div>
  );
}

/** What is the same for a list whatever it shows. */
export interface ListKind<T, F extends ListFilter> extends Rows<T> {
  /** What its search looks at. */
  readonly searched: string;
  readonly none: F;
  readonly wanted: (rows: readonly T[], filter: F) => readonly T[];
  /** The row with a key, if the list has it. */
  readonly listed: (live: LiveWorld, key: string) => T | undefined;
  /** Reads a row that the list does not have; undefined if the world does not have it either. */
  readonly read: (live: LiveWorld, key: string) => Promise<T | undefined>;
  /** Says that the world has no such row. */
  readonly unknown: string;
}

/** The open row, also if it is too old to be in the list. One that no longer exists is closed; one that never did is said to be unknown. */
function useOpened<T, F extends ListFilter>(
  { listed, read, keyOf, unknown }: ListKind<T, F>,
  key: string | null,
  close: () => void,
): T | undefined {
  const live = useLive();
  const [old, setOld] = useState<T>();
  const inList = key === null ? undefined : listed(live, key);
  const isOld = key !== null && inList === undefined && live.isLoaded.value;
  const row = isOld && old !== undefined && keyOf(old) === key ? old : inList;
  const shown = useRef<string | null>(null);
  if (row !== undefined) shown.current = key;
  useEffect(() => {
    if (!isOld) return;
    let isOver = false;
    const take = (found: T | undefined): void => {
      if (found !== undefined) return setOld(() => found);
      if (isOver) return;
      if (shown.current !== key) live.news.show({ text: `${unknown} ${key}.` });
      close();
    };
    read(live, key).then(take, () => undefined); // it is read again with every change of the world
    return () => (isOver = true);
  }, [live, key, isOld, live.summary.value]);
  return row;
}

interface Props<T, F extends ListFilter> {
  readonly kind: ListKind<T, F>;
  /** All rows that a filter can find; null while they are not loaded. */
  readonly rows: readonly T[] | null;
  /** What the rows leave out, in words; empty if nothing. */
  readonly missing: string;
  readonly filter: F;
  readonly setFilter: (filter: F) => void;
  /** Filters of this list, and what is above the rows. */
  readonly choices: ComponentChildren;
  readonly above?: ComponentChildren;
  /** Shown instead of the list while there are no rows; null for what is shown without a match. */
  readonly empty: ComponentChildren;
  readonly noMatch: string;
  /** Where else the search finds something, in that case. */
  readonly elsewhere?: ComponentChildren;
  /** The key of the open row. */
  readonly opened: string | null;
  readonly onOpen: (key: string | null) => void;
  readonly panelTitle: (row: T) => string;
  readonly panel: (row: T) => ComponentChildren;
}

/** A list with its search, its filters and its order, and the open row beside it. */
export function ListView<T, F extends ListFilter>(props: Props<T, F>) {
  const { kind, missing, filter, setFilter, empty, opened, onOpen } = props;
  const { title, searched, columns } = kind;
  const row = useOpened(kind, opened, () => onOpen(null));
  const isLoaded = useLive().isLoaded.value && props.rows !== null;
  const rows = props.rows ?? [];
  const shown = useMemo(
    () => sorted(kind.wanted(rows, filter), columns, filter.sort),
    [kind, props.rows, filter],
  );
  return (
    <section class="view" aria-labelledby="list-title">
      <header class="view-head">
        <h2 id="list-title">{title}</h2>
        <p class="note" role="status">
          {isLoaded && countedOf(shown.length, rows.length) + missing}
        </p>
        <div class="filters" role="search" aria-label={title}>
          <input
            type="search"
            aria-label={`Search ${searched}`}
            placeholder={`Search ${searched}  /`}
            value={filter.text}
            onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
            onKeyDown={({ key, currentTarget }) => {
              if (key === 'Enter' && shown[0] !== undefined) onOpen(kind.keyOf(shown[0]));
              else if (key === 'Escape' && filter.text === '') currentTarget.blur(); // so that single keys act
            }}
          />
          {props.choices}
        </div>
      </header>
      {props.above}
      <div class="split" data-open={row === undefined ? undefined : ''}>
        {!isLoaded ? (
          <div class="loading" role="status">
            Loading
          </div>
        ) : rows.length === 0 && empty !== null ? (
          <div class="nothing">{empty}</div>
        ) : shown.length === 0 ? (
          <div class="nothing">
            <p>
              <strong>Nothing matches.</strong> {props.noMatch}
              {missing !== '' && ' Older ones that are not loaded were not searched.'}
            </p>
            {props.elsewhere}
            <Button isLocal act={() => setFilter(kind.none)}>
              Show all
            </Button>
          </div>
        ) : (
          <VirtualTable
            kind={kind}
            rows={shown}
            sort={filter.sort}
            onSort={(sort) => setFilter({ ...filter, sort })}
            opened={opened}
            onOpen={onOpen}
          />
        )}
        {row !== undefined && (
          <Panel title={props.panelTitle(row)} onClose={() => onOpen(null)}>
            {props.panel(row)}
          </Panel>
        )}
      </div>
    </section>
  );
}
