import { signal } from '@preact/signals';

/** What lies over or beside the view: the palette, the list of keys, or the form that pays. */
export const overlay = signal<'palette' | 'keys' | 'pay' | null>(null);

/** What had the focus before it opened. */
let before: HTMLElement | null = null;

export function show(what: typeof overlay.value): void {
  if (overlay.value === null) before = document.activeElement as HTMLElement | null;
  overlay.value = what;
}

/** Closes it, and gives the focus back. */
export function hide(): void {
  overlay.value = null;
  before?.focus();
  before = null;
}
