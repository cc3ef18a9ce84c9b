import { attemptsHeld } from '../world/attempts.ts';
import { documentBytesHeld, full, noRoomForDocument, recordsHeld, type WorldState } from '../world/state.ts';
import type { Draft, TotalLimits } from './world-log.ts';

/** What one world holds, as the bounds over all worlds count it. */
export interface WorldSize {
  readonly records: number;
  readonly attempts: number;
  readonly documentBytes: number;
}

export const NOTHING: WorldSize = { records: 0, attempts: 0, documentBytes: 0 };

export const sizeOf = (state: Readonly<WorldState>): WorldSize => ({
  records: recordsHeld(state),
  attempts: attemptsHeld(state.attempts),
  documentBytes: documentBytesHeld(state),
});

type Needs = Pick<WorldSize, 'records' | 'documentBytes'>;

/** @throws Refusal SANDBOX_FULL when there is not enough room */
export function demandRoom(needed: Needs, room: Needs, maxRecords: number): void {
  if (needed.records > room.records) throw full(maxRecords);
  if (needed.documentBytes > room.documentBytes) throw noRoomForDocument();
}

/** What all worlds of a log hold together, and may hold. */
export class Totals {
  readonly limits: TotalLimits;
  records = 0;
  attempts = 0;
  documentBytes = 0;
  uses = 0;
  /** What states hold that are still being read. Some of their items count as a fraction of a record. */
  readonly #drafted = { records: 0, documentBytes: 0 };

  constructor(limits: TotalLimits) {
    this.limits = limits;
  }

  get recordsFree(): number {
    return this.limits.maxRecords - this.records - Math.floor(this.#drafted.records);
  }

  get attemptsFree(): number {
    return this.limits.maxAttempts - this.attempts;
  }

  get documentBytesFree(): number {
    return this.limits.maxDocumentBytes - this.documentBytes - this.#drafted.documentBytes;
  }

  /** Replaces what is counted for a world. */
  replace(before: WorldSize, now: WorldSize): void {
    this.records += now.records - before.records;
    this.attempts += now.attempts - before.attempts;
    this.documentBytes += now.documentBytes - before.documentBytes;
  }

  /** Starts to count a state that is being read. */
  draft(): Draft {
    const drafted = this.#drafted;
    const own = { records: 0, documentBytes: 0 };
    const take = (records: number, documentBytes: number): void => {
      for (const sum of [own, drafted]) {
        sum.records += records;
        sum.documentBytes += documentBytes;
      }
    };
    return {
      grow: (records, documentBytes) => {
        const more = Math.floor(drafted.records + records) - Math.floor(drafted.records);
        const room = { records: this.recordsFree, documentBytes: this.documentBytesFree };
        demandRoom({ records: more, documentBytes }, room, this.limits.maxRecords);
        take(records, documentBytes);
      },
      end: () => take(-own.records, -own.documentBytes),
    };
  }
}
