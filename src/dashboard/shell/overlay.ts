import { signal } from '@preact/signals';

type Overlay = 'palette' | 'keys' | 'pay';

/** What lies over or beside the view: the palette, the list of keys, or the form that pays. */
export const overlay = signal<Overlay | null>(null);

/** What had the focus before it opened. */
let before: HTMLElement | null = null;

export function show(what: Overlay): void {
  if (overlay.value === null) before = document.activeElement as HTMLElement | null;
  overlay.value = what;
}

/**
 * Closes it, and gives the focus back, unless a key has moved it into the view by now: a dialog says late that it was closed.
 *
 * @param what nothing happens if something else is shown by now
 */
export function hide(what = overlay.value): void {
  if (what === null || overlay.value !== what) return;
  overlay.value = null;
  document.querySelector<HTMLDialogElement>('dialog:modal')?.close(); // nothing below it can take the focus
  if (document.activeElement?.closest('main') === null) before?.focus();
  before = null;
}
