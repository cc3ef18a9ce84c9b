import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Mark } from '../store/payout-list.ts';
import { hashOf, NO_ADDRESS, readAddress, type Address, type ViewName } from './address.ts';

/** What the user looks at. It is in the URL, so that it can be shared, and reload and back work. */
export const address = signal<Address>(NO_ADDRESS);

/** Browsers refuse a page that changes its URL more often than some hundred times in half a minute. */
const WRITE_EVERY_MS = 400;
let waiting: ReturnType<typeof setTimeout> | undefined;
/** The hash that the page wrote last. Another one is a link that was followed, and its `hashchange` comes soon. */
let written = '';

function write(how: 'pushState' | 'replaceState'): void {
  clearTimeout(waiting);
  waiting = undefined;
  history[how](null, '', location.pathname + location.search + hashOf(address.value));
  written = location.hash;
}

function writeLater(): void {
  waiting = undefined;
  if (location.hash === written) write('replaceState');
}

/** Goes to another address; the browser's back button returns. */
export function go(change: Partial<Address>): void {
  if (location.hash !== written) dispatchEvent(new Event('hashchange')); // a link was followed first
  const to = { ...address.value, ...change };
  if (waiting !== undefined) write('replaceState'); // the entry that the back button returns to
  const isElsewhere = hashOf(to) !== hashOf(address.value);
  address.value = to;
  if (isElsewhere) write('pushState');
}

/** Changes the address without a new entry in the history, as while a filter is typed. */
export function amend(change: Partial<Address>): void {
  address.value = { ...address.value, ...change };
  waiting ??= setTimeout(writeLater, WRITE_EVERY_MS);
}

/** Takes the address from the URL. @returns the key of a link, which is removed from the URL at once */
export function takeUrl(): string | null {
  const { key, address: taken } = readAddress(location.hash, address.value);
  address.value = taken;
  write('replaceState');
  return key;
}

/** The filter of a list, kept in the address. @param none the filter that lets everything pass */
export function useFilter<T extends object>(list: 'payouts' | 'requests', none: T): [T, (filter: T) => void] {
  const parts = address.value[list];
  const filter = useMemo(() => {
    const known = Object.entries(parts).filter(([name]) => Object.hasOwn(none, name));
    return { ...none, ...Object.fromEntries(known) };
  }, [parts]);
  const set = (changed: T): void => {
    const differing = Object.entries(changed).filter(([name, value]) => value !== none[name as keyof T]);
    amend({ [list]: Object.fromEntries(differing) as Record<string, string> });
  };
  return [filter, set];
}

/** Shows a view, and moves the focus into it. @param target a selector of what in it gets the focus */
export function showView(view: ViewName, target?: string): void {
  go({ view });
  document.querySelector('main')?.focus();
  if (target !== undefined) setTimeout(() => document.querySelector<HTMLElement>(`main ${target}`)?.focus()); // once it is drawn
}

/** Opens a payout in its view, or closes the open one. */
export const openPayout = (payout: string | null): void => go({ view: 'payouts', payout });

/** Opens a request in its view, or closes the open one. */
export const openRequest = (request: number | null): void => go({ view: 'requests', request });

/** Lists all payouts, or those of which the client does not know enough. */
export const showPayouts = (state?: Mark): void =>
  go({ view: 'payouts', payout: null, payouts: state === undefined ? {} : { state } });

/** Lists the requests in which a text occurs. */
export const showRequestsOf = (text: string): void =>
  go({ view: 'requests', request: null, requests: { text } });
