import { CHANGE_NOTE, EXCHANGE, UNLIST } from './list-scripts.ts';
import { APPEND, COMPACT, DROP, OPEN, WRITE_STATE } from './log-scripts.ts';

/** The prefix of all keys in this layout. A layout that older servers cannot read gets another number. */
export const KEY_PREFIX = 'payout-sandbox:4:';

/** The lists of worlds of earlier layouts, which this program does not read. */
export const OLDER_LISTS = ['1:worlds', '2:worlds', '3:{worlds}:used'].map(
  (name) => `payout-sandbox:${name}`,
);

/** The number of the newest format of commands and states that this program reads and writes. */
export const FORMAT = 1;

export interface WorldKeys {
  /** The single values: epoch, format, positions, bases. */
  readonly head: string;
  /** The commands, a stream whose ids are `0-POSITION`. */
  readonly log: string;
  /** The positions of the restores in the log, by the names of their states. */
  readonly restores: string;
  /** Why the world was dropped, for some minutes: longer than a server needs to look up all its copies. */
  readonly dropped: string;
  /** The channel that announces news. */
  readonly news: string;
  /** The key of a state that is stored beside the log: a base, or what a restore puts in place. */
  readonly state: (name: string) => string;
}

/** The keys of one world are in one hash slot. */
export function keysOf(worldId: string): WorldKeys {
  const tag = `${KEY_PREFIX}{${worldId}}:`;
  return {
    head: `${tag}head`,
    log: `${tag}log`,
    restores: `${tag}restores`,
    dropped: `${tag}dropped`,
    news: `${tag}news`,
    state: (name) => `${tag}state:${name}`,
  };
}

/** The list of worlds: when each was used last, what each holds, and the sum of that. */
export const LIST_KEYS = ['used', 'held', 'total'].map((name) => `${KEY_PREFIX}{worlds}:${name}`) as [
  used: string,
  held: string,
  total: string,
];

/**
 * The scripts that run in the store, each as one atomic step, with the number of their keys. All keys of a script are in one
 * hash slot, and each script names those that it uses.
 */
export const SCRIPTS = {
  open: { lua: OPEN, numberOfKeys: 3 },
  append: { lua: APPEND, numberOfKeys: 4 },
  /** It is called with the number of its keys, since there may be more. */
  compact: { lua: COMPACT },
  writeState: { lua: WRITE_STATE, numberOfKeys: 1 },
  drop: { lua: DROP, numberOfKeys: 5 },
  exchange: { lua: EXCHANGE, numberOfKeys: 3 },
  unlist: { lua: UNLIST, numberOfKeys: 3 },
  changeNote: { lua: CHANGE_NOTE, numberOfKeys: 3 },
} as const;
export type ScriptName = keyof typeof SCRIPTS;
