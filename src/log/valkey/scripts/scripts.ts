import { APPEND, COMPACT, DROP, OPEN, RENEW, WRITE_STATE } from './log-scripts.ts';
import { CHANGE_NOTE, CLEAR_JOURNAL, PUBLISH, READ_JOURNAL, WATCH, WRITE_JOURNAL } from './side-scripts.ts';

/** The prefix of all keys in this layout. A layout that older servers cannot read gets another number. */
export const KEY_PREFIX = 'payout-sandbox:2:';

/** The number of the newest format of commands and snapshots that this program reads and writes. */
export const FORMAT = 1;

export interface WorldKeys {
  /** The single values: epoch, format, positions, counters. */
  readonly head: string;
  /** The commands, a stream whose ids are `0-POSITION`. */
  readonly log: string;
  /** The records of exchanges, the oldest first. */
  readonly journal: string;
  /** What happened while somebody watched, a stream whose ids are `EPOCH-NTH`, from 0. */
  readonly events: string;
  /** The state at one position, as pieces of text. */
  readonly snapshot: string;
  /** Why the world was dropped, for a minute. */
  readonly dropped: string;
  /** The channel that announces news. */
  readonly news: string;
}

/** The key of the state of a restore, until a snapshot includes it. @param name the name of its command */
export const restoredKeyOf = ({ snapshot }: WorldKeys, name: string): string =>
  `${snapshot}:restored:${name}`;

export function keysOf(worldId: string): WorldKeys {
  const tag = `${KEY_PREFIX}{${worldId}}:`;
  return {
    head: `${tag}head`,
    log: `${tag}log`,
    journal: `${tag}journal`,
    events: `${tag}events`,
    snapshot: `${tag}snapshot`,
    dropped: `${tag}dropped`,
    news: `${tag}news`,
  };
}

/**
 * The scripts that run in the store, each as one atomic step, with the number of their keys. All keys of a world are in one
 * hash slot, as are those of notes of one kind, and each script names those that it uses.
 */
export const SCRIPTS = {
  open: { lua: OPEN, numberOfKeys: 5 },
  append: { lua: APPEND, numberOfKeys: 3 },
  renew: { lua: RENEW, numberOfKeys: 5 },
  compact: { lua: COMPACT, numberOfKeys: 4 },
  writeState: { lua: WRITE_STATE, numberOfKeys: 1 },
  drop: { lua: DROP, numberOfKeys: 7 },
  writeJournal: { lua: WRITE_JOURNAL, numberOfKeys: 2 },
  readJournal: { lua: READ_JOURNAL, numberOfKeys: 2 },
  clearJournal: { lua: CLEAR_JOURNAL, numberOfKeys: 2 },
  publish: { lua: PUBLISH, numberOfKeys: 3 },
  watch: { lua: WATCH, numberOfKeys: 2 },
  changeNote: { lua: CHANGE_NOTE, numberOfKeys: 3 },
} as const;
export type ScriptName = keyof typeof SCRIPTS;
