import { APPEND, COMPACT, DROP, OPEN, RENEW } from './log-scripts.ts';
import { CHANGE_NOTE, CLEAR_JOURNAL, PUBLISH, READ_JOURNAL, WATCH, WRITE_JOURNAL } from './side-scripts.ts';

/** What the keys of this layout begin with. A layout that older servers cannot read gets another number. */
export const KEY_PREFIX = 'payout-sandbox:2:';

/** The number of the newest format of commands and snapshots that this program reads and writes. */
export const FORMAT = 1;

export interface WorldKeys {
  /** What there is one of: epoch, format, positions, counters. */
  readonly head: string;
  /** The commands, a stream whose ids are `0-POSITION`. */
  readonly log: string;
  /** The records of exchanges, the oldest first. */
  readonly journal: string;
  /** What happened while somebody watched, a stream whose ids are `EPOCH-NTH`, from 0. */
  readonly events: string;
  /** The state at one position, as pieces of text. */
  readonly snapshot: string;
  /** Why there is no such world any more, for a minute. */
  readonly dropped: string;
  /** The channel that says that something is new. */
  readonly news: string;
}

/** Where the state of a restore is, until a snapshot takes its place. @param name that of the command */
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
 * The scripts that run in the store, where each is one atomic step, with the number of their keys. All keys of a world are in one
 * hash slot, as are those of notes of one kind, and each script names those that it uses.
 */
export const SCRIPTS = {
  open: { lua: OPEN, numberOfKeys: 5 },
  append: { lua: APPEND, numberOfKeys: 3 },
  renew: { lua: RENEW, numberOfKeys: 5 },
  compact: { lua: COMPACT, numberOfKeys: 4 },
  drop: { lua: DROP, numberOfKeys: 6 },
  writeJournal: { lua: WRITE_JOURNAL, numberOfKeys: 2 },
  readJournal: { lua: READ_JOURNAL, numberOfKeys: 2 },
  clearJournal: { lua: CLEAR_JOURNAL, numberOfKeys: 2 },
  publish: { lua: PUBLISH, numberOfKeys: 3 },
  watch: { lua: WATCH, numberOfKeys: 2 },
  changeNote: { lua: CHANGE_NOTE, numberOfKeys: 3 },
} as const;
export type ScriptName = keyof typeof SCRIPTS;
