import { useLayoutEffect, useRef } from 'preact/hooks';
import { toggleClock } from '../actions/clock-moves.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { VIEWS, type ViewName } from './address.ts';
import { address, go, showView } from './navigation.ts';
import { hide, overlay, show } from './overlay.ts';
import { areKeysOn, switchKeys } from './session.ts';

/** What each key does, as the sheet shows it. */
const KEYS = [
  ['Ctrl+K', 'commands, in words'],
  ['/', 'search the list'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close what is open'],
  ['1 … 6', 'the views, from Overview to World'],
  ['p', 'pay'],
  ['f', 'freeze or resume the clock'],
  ['?', 'this list'],
] as const;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog') !== null;

const focus = (selector: string): boolean => {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus();
  return found !== null;
};

function handle(live: LiveWorld, key: string): boolean {
  const views = Object.keys(VIEWS) as ViewName[];
  const view = views[Number(key) - 1];
  if (view !== undefined) showView(view);
  else if (key === 'p') show('pay');
  else if (key === '?') show('keys');
  else if (key === 'f') toggleClock(live);
  else if (key === '/') return focus('input[type=search]');
  else if (key === 'j' || key === 'k') return focus('[role=table] [data-active] button'); // its own keys go on
  else if (key !== 'Escape') return false;
  else if (overlay.value !== null) hide();
  else if (address.value.view === 'payouts' && address.value.payout !== null) go({ payout: null });
  else if (address.value.view === 'requests' && address.value.request !== null) go({ request: null });
  else return false;
  return true;
}

/** The keys of the page, from the moment it is drawn. A list, a dialog and a field have keys of their own. */
export function useShortcuts(live: LiveWorld): void {
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const isPalette = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (isPalette) show('palette');
      else if (overlay.value === 'palette' && event.key !== 'Escape') return;
      else if (event.ctrlKey || event.metaKey || event.altKey) return;
      else if (isTyping(event.target) && event.key !== 'Escape') return;
      else if (!areKeysOn.value && event.key !== 'Escape') return;
      else if (!handle(live, event.key)) return;
      event.preventDefault();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [live]);
}

export function ShortcutSheet() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-labelledby="keys-title"
      onClose={() => dialog.current && hide('keys')}
    >
      <h2 id="keys-title">Keys</h2>
      <dl class="facts">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="check buttons">
        <input
          type="checkbox"
          checked={areKeysOn.value}
          onChange={(event) => switchKeys(event.currentTarget.checked)}
        />
        Single keys act, such as <kbd>f</kbd>
      </label>
      <Button isLocal act={() => dialog.current!.close()}>
        Close
      </Button>
    </dialog>
  );
}
