import { signal } from '@preact/signals';

/** What the browser stores between visits: the key of the world, and the theme. */

export const DEMO_KEY = 'sk_test_demo';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY_NAME = 'payout-sandbox.key';
const THEME_NAME = 'payout-sandbox.theme';

/** Reads what is stored; null if the browser forbids storage. */
function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // the page asks for it again next time
  }
}

/** The key of `#key=…`, removed from the address so that no history and no screenshot contains it. */
function keyOfAddress(): string | null {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key !== null) history.replaceState(null, '', location.pathname + location.search);
  return key;
}

/** The key of the world that is shown; null before one is chosen. */
export const apiKey = signal<string | null>(null);
/** The key of a link that was followed while another key is stored, until the user has decided between them. */
export const offeredKey = signal<string | null>(null);
export const theme = signal<Theme>('system');

export function chooseKey(key: string | null): void {
  keep(KEY_NAME, key);
  apiKey.value = key;
  offeredKey.value = null;
}

export function chooseTheme(chosen: Theme): void {
  keep(THEME_NAME, chosen);
  theme.value = chosen;
  document.documentElement.dataset['theme'] = chosen;
}

export function beginSession(): void {
  chooseTheme(THEMES.find((name) => name === kept(THEME_NAME)) ?? 'system');
  const take = (): void => {
    const given = keyOfAddress();
    if (given === null || given === '') return;
    if (apiKey.value === null) chooseKey(given);
    else offeredKey.value = given === apiKey.value ? null : given; // anybody can write a link, so the user decides
  };
  apiKey.value = kept(KEY_NAME);
  take();
  addEventListener('hashchange', take);
}
