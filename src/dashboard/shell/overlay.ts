import { signal } from '@preact/signals';

/** What lies over or beside the view: the palette, the list of keys, or the form that pays. */
export const overlay = signal<'palette' | 'keys' | 'pay' | null>(null);

/** What had the focus before it opened. */
let before: HTMLElement | null = null;

export function show(what: typeof overlay.value): void {
  if (overlay.value === null) before = document.activeElement as HTMLElement | null;
  overlay.value = what;
}

/** Closes it, and gives the focus back, unless a key has moved it into the view by now: a dialog says late that it was closed. */
export function hide(): void {
  if (overlay.value === null) return;
  overlay.value = null;
  if (document.activeElement?.closest('main') === null) before?.focus();
  before = null;
}
