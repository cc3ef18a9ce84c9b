import { signal } from '@preact/signals';
import { worldName } from './address.ts';
import { address, amend, go, takeUrl } from './navigation.ts';

/** What the browser stores between visits: the keys of the worlds it has shown, and the theme. */

export const DEMO_KEY = 'sk_test_demo';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY_NAME = 'payout-sandbox.key';
const WORLDS_NAME = 'payout-sandbox.worlds';
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

const MOST_WORLDS = 20;

type WorldKey = readonly [name: string, key: string];

/** The worlds that this browser has shown, with their keys, the latest first. */
export function knownWorlds(): readonly WorldKey[] {
  try {
    const stored: unknown = JSON.parse(kept(WORLDS_NAME) ?? '[]');
    return Array.isArray(stored) ? stored.filter((one): one is WorldKey => Array.isArray(one)) : [];
  } catch {
    return [];
  }
}

const keyOfWorld = (wanted: string): string | undefined =>
  knownWorlds().find(([name]) => name === wanted)?.[1];

export function forgetWorlds(): void {
  keep(WORLDS_NAME, null);
}

/** The key of the world that is shown; null before one is chosen. */
export const apiKey = signal<string | null>(null);
/** The key of a link that was followed while another key is stored, until the user has decided between them. */
export const offeredKey = signal<string | null>(null);
export const theme = signal<Theme>('system');

/** The world that a link names while the browser has no key for it. */
export const wantedWorld = signal<string | null>(null);

function showWorld(key: string | null): void {
  keep(KEY_NAME, key);
  apiKey.value = key;
  offeredKey.value = null;
  wantedWorld.value = null;
}

/** Shows another world, or asks for one. */
export function chooseKey(key: string | null): void {
  if (key !== apiKey.value || wantedWorld.value !== null) go({ world: null, payout: null, request: null });
  showWorld(key);
}

/** Shows the world that a link names, with the key that the user has entered for it. @param id of that world */
export function unlockWorld(key: string, id: string): void {
  showWorld(key);
  nameWorld(id); // at once: the user may follow another link before the world is loaded
}

/** Names the world in the address, and remembers its key. @param id of the world that the current key opens */
export function nameWorld(id: string): void {
  const name = worldName(id);
  const others = knownWorlds().filter(([known]) => known !== name);
  keep(WORLDS_NAME, JSON.stringify([[name, apiKey.value], ...others].slice(0, MOST_WORLDS)));
  if (address.value.world !== name) amend({ world: name });
}

export function chooseTheme(chosen: Theme): void {
  keep(THEME_NAME, chosen);
  theme.value = chosen;
  document.documentElement.dataset['theme'] = chosen;
}

export function beginSession(): void {
  chooseTheme(THEMES.find((name) => name === kept(THEME_NAME)) ?? 'system');
  const take = (): void => {
    const given = takeUrl();
    const { world } = address.value;
    wantedWorld.value = null;
    if (given !== null && given !== '') {
      if (apiKey.value === null) showWorld(given);
      else offeredKey.value = given === apiKey.value ? null : given; // anyone can write a link, so the user decides
    } else if (world !== null) {
      const key = keyOfWorld(world);
      if (key === undefined) wantedWorld.value = world;
      else if (key !== apiKey.value) showWorld(key);
    }
  };
  apiKey.value = kept(KEY_NAME);
  take();
  addEventListener('hashchange', take);
}
