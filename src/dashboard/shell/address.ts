/** The state of the page in its address, after the `#`: `#payouts?world=1f0c9a2b&payout=TXN4A…&payouts.state=FAILED`. */

/** The fields of a filter that differ from their defaults. */
type FilterParts = Readonly<Record<string, string>>;

/** The views in the order of the page. */
export const VIEWS = {
  overview: 'Overview',
  payouts: 'Payouts',
  requests: 'Requests',
  conduct: 'Conduct',
  scenario: 'Scenario',
  world: 'World',
} as const;
export type ViewName = keyof typeof VIEWS;

export interface Address {
  readonly view: ViewName | null;
  /** The first digits of a world's id. They do not reveal its key. */
  readonly world: string | null;
  /** The txn_id of the open payout, and the id of the open request. */
  readonly payout: string | null;
  readonly request: number | null;
  readonly payouts: FilterParts;
  readonly requests: FilterParts;
}

export const NO_ADDRESS: Address = {
  view: null,
  world: null,
  payout: null,
  request: null,
  payouts: {},
  requests: {},
};

const WORLD_DIGITS = 8; // as in the log

/** How an address names a world. */
export const worldName = (id: string): string => id.slice(0, WORLD_DIGITS);

const viewIn = (text: string): ViewName | null => (Object.hasOwn(VIEWS, text) ? (text as ViewName) : null);

const filterIn = (given: URLSearchParams, list: string): FilterParts =>
  Object.fromEntries(
    [...given]
      .filter(([name]) => name.startsWith(`${list}.`))
      .map(([name, value]) => [name.slice(list.length + 1), value]),
  );

/**
 * Reads the part of a URL after its `#`.
 *
 * @returns the key of a link that contains one, and the address; `#payouts` alone only names a view, so the rest stays as it was
 */
export function readAddress(
  hash: string,
  was: Address = NO_ADDRESS,
): { readonly key: string | null; readonly address: Address } {
  const text = hash.replace(/^#/, '');
  const [before = '', query] = text.split(/\?(.*)/s);
  const key = new URLSearchParams(query ?? text).get('key');
  if (key !== null) return { key, address: was };
  if (query === undefined) return { key, address: { ...was, view: viewIn(before) ?? was.view } };
  const given = new URLSearchParams(query);
  const request = Number(given.get('request'));
  const address = {
    view: viewIn(before),
    world: given.get('world') || null,
    payout: given.get('payout') || null,
    request: Number.isSafeInteger(request) && request > 0 ? request : null,
    payouts: filterIn(given, 'payouts'),
    requests: filterIn(given, 'requests'),
  };
  return { key, address };
}

/** The address as the part of a URL after its `#`; empty when it names nothing. */
export function hashOf(address: Address): string {
  const { view, world, payout, request, ...lists } = address;
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries({ world, payout, request })) {
    if (value !== null) parts.set(name, String(value));
  }
  for (const [list, filter] of Object.entries(lists)) {
    for (const [name, value] of Object.entries(filter)) parts.set(`${list}.${name}`, value);
  }
  const query = parts.toString();
  return query === '' ? (view === null ? '' : `#${view}`) : `#${view ?? ''}?${query}`;
}
