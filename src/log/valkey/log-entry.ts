import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import type { Command, RestoreCommand, Stamp } from '../../world/commands.ts';
import { attemptsHeld } from '../../world/attempts.ts';
import { documentBytesHeld, recordsHeld, type WorldState } from '../../world/state.ts';
import type { WorldSize } from '../totals.ts';

/** The beginning of a log: the scenario that the world has on every server. */
interface Opening {
  readonly kind: 'open';
  readonly source: ScenarioSource;
}

/** A restore in the log. Its state is stored under a key of its own. */
export interface StoredRestore extends Pick<RestoreCommand, 'kind' | 'clock'> {
  readonly key: string;
}

export type StoredCommand = Opening | Exclude<Command, RestoreCommand> | StoredRestore;

/** How much the world may hold after the command, as counted by the server that submitted it: caps over all worlds are approximate. */
export interface Room extends WorldSize {
  readonly maxRecords: number;
}

/** One command of a log. */
export interface LogEntry {
  /** Its position in the log, counted from 1. */
  readonly position: number;
  /** The name of the command before it, to detect a log that does not continue what was seen. */
  readonly before: string;
  /** `SERVER:NUMBER`: who submitted it, and which of its commands it is. */
  readonly name: string;
  /** The store's own time, ms since the epoch: one clock for all servers. */
  readonly wallMs: number;
  readonly text: string;
  /** The fingerprint of the state before it; '' when its submitter had not seen that state. */
  readonly fingerprint: string;
}

/** What two copies of a world at the same position must agree on. It is compared at every command. */
export const fingerprintOf = ({ generation, wallet, payouts, entries }: WorldState): string =>
  `${generation} ${wallet.balancePaise} ${payouts.length} ${entries.length}`;

export const commandText = (command: StoredCommand, room: Room): string => JSON.stringify([room, command]);

export const readCommand = (text: string): readonly [Room, StoredCommand] =>
  JSON.parse(text) as [Room, StoredCommand];

/** A stream entry as the store returns it: `[ID, [p, BEFORE, s, SERVER, n, NUMBER, t, MS, c, TEXT, f, FINGERPRINT]]`. */
export type StreamEntry = readonly [id: string, fields: readonly string[]];

export const logEntry = ([id, fields]: StreamEntry): LogEntry => ({
  position: Number(id.slice(id.indexOf('-') + 1)),
  before: fields[1]!,
  name: `${fields[3]}:${fields[5]}`,
  wallMs: Number(fields[7]),
  text: fields[9]!,
  fingerprint: fields[11] ?? '',
});

/** The stamp of a command, the same on every server. */
export const stampOf = (
  state: WorldState,
  wallMs: number,
  { maxRecords, records, attempts, documentBytes }: Room,
): Stamp => ({
  wallMs,
  maxRecords,
  recordsFree: records - recordsHeld(state),
  attemptsFree: attempts - attemptsHeld(state.attempts),
  documentBytesFree: documentBytes - documentBytesHeld(state),
});
