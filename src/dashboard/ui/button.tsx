import type { ComponentChildren } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CurrentWorld } from '../store/current-world.ts';

interface Props {
  readonly act?: () => void;
  readonly children: ComponentChildren;
  /** An action of this button, or of its neighbours, is under way. */
  readonly isBusy?: boolean;
  /** Why it cannot be used now. */
  readonly off?: string | null;
  /** Whether it works without the sandbox. */
  readonly isLocal?: boolean;
  readonly kind?: 'primary' | 'plain' | 'link' | 'small';
  readonly isExpanded?: boolean;
  readonly label?: string;
  readonly title?: string;
  readonly isSubmit?: boolean;
}

/** When a button disappears that has the focus, the focus stays in its place: it moves to what is left around it. */
function keepFocus(button: HTMLElement): void {
  if (document.activeElement !== button) return;
  const around: HTMLElement[] = [];
  const page = button.closest<HTMLElement>('[data-view]');
  for (let one: HTMLElement | null = button; one !== page && one !== null; one = one.parentElement)
    around.push(one);
  queueMicrotask(() => {
    const place = around.find((one) => one.isConnected && one.querySelector('a, button, input') !== null);
    if (document.activeElement !== document.body || place === undefined) return;
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  });
}

/** In a function of its own: a cleanup keeps all variables of its function, and `act` would keep the rows of a rendering. */
function useFocusKept<T extends HTMLElement>() {
  const element = useRef<T>(null);
  useLayoutEffect(() => {
    const { current } = element;
    return () => keepFocus(current!);
  }, []);
  return element;
}

/** A button. While it cannot be used it keeps the focus, and says why; `disabled` would give the focus away. */
export function Button({
  act,
  children,
  isBusy = false,
  off = null,
  isLocal = false,
  kind = 'plain',
  isExpanded,
  label,
  title,
  isSubmit = false,
}: Props) {
  const away = useContext(CurrentWorld)?.away.value ?? null;
  const reason = off ?? (isLocal ? null : away);
  const isOff = isBusy || reason !== null;
  const element = useFocusKept<HTMLButtonElement>();
  return (
    <button
      ref={element}
      type={isSubmit ? 'submit' : 'button'}
      class={kind === 'link' ? 'link' : `button ${kind}`}
      aria-disabled={isOff}
      aria-expanded={isExpanded}
      aria-label={label}
      title={reason ?? title}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else act?.();
      }}
    >
      {children}
    </button>
  );
}

/** Handles the submission of a form on the page. */
export const submits =
  (act: () => void) =>
  (event: Event): void => {
    event.preventDefault();
    act();
  };

interface CopyProps {
  readonly label: string;
  /** What it copies, where others beside it have the same label. */
  readonly what?: string;
  readonly text: () => string;
}

const SHOWN_MS = 1500;

export function CopyButton({ label, what, text }: CopyProps) {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid('Copied');
    } catch {
      setSaid('Copy it by hand'); // browsers offer no clipboard to a page without HTTPS, except on localhost
    }
    setTimeout(() => setSaid(''), SHOWN_MS);
  };
  return (
    <Button kind="small" isLocal act={() => void copy()}>
      <span aria-live="polite">{said === '' ? label : said}</span>
      {what !== undefined && <span class="unseen"> {what}</span>}
    </Button>
  );
}
