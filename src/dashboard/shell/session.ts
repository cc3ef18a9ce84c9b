import { signal } from '@preact/signals';
import { worldName } from './address.ts';
import { address, amend, go, takeUrl } from './navigation.ts';

/** What the browser stores between visits: the keys of the worlds it has shown, and whether single keys act. */

export const DEMO_KEY = 'sk_test_demo';

const KEY_NAME = 'payout-sandbox.key';
const WORLDS_NAME = 'payout-sandbox.worlds';
const KEYS_NAME = 'payout-sandbox.single-keys';

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
function knownWorlds(): readonly WorldKey[] {
  try {
    const stored: unknown = JSON.parse(kept(WORLDS_NAME) ?? '[]');
    return Array.isArray(stored) ? stored.filter((one): one is WorldKey => Array.isArray(one)) : [];
  } catch {
    return [];
  }
}

const keyOfWorld = (wanted: string): string | undefined =>
  knownWorlds().find(([name]) => name === wanted)?.[1];

/** The key of the world that is shown; null before one is chosen. */
export const apiKey = signal<string | null>(null);
/** Whether a single key acts, such as `f`. */
export const areKeysOn = signal(true);

/** The world that a link names while the browser has no key for it. */
export const wantedWorld = signal<string | null>(null);

function showWorld(key: string | null): void {
  keep(KEY_NAME, key);
  apiKey.value = key;
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

export function switchKeys(isOn: boolean): void {
  keep(KEYS_NAME, isOn ? null : 'off');
  areKeysOn.value = isOn;
}

export function beginSession(): void {
  areKeysOn.value = kept(KEYS_NAME) === null;
  const take = (): void => {
    const given = takeUrl();
    const { world } = address.value;
    wantedWorld.value = null;
    if (given !== null && given !== '') {
      if (apiKey.value === null) showWorld(given);
      else if (given !== apiKey.value) {
        go({ world: null, payout: null, request: null });
        apiKey.value = given; // anyone can write a link: the key that is stored stays the user's own
      }
    } else if (world !== null) {
      const key = keyOfWorld(world);
      if (key === undefined) wantedWorld.value = world;
      else apiKey.value = key;
    }
  };
  apiKey.value = kept(KEY_NAME);
  take();
  addEventListener('hashchange', take);
}
