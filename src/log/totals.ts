import { attemptsHeld } from '../world/attempts.ts';
import { documentBytesHeld, full, noRoomForDocument, recordsHeld, type WorldState } from '../world/state.ts';
import type { Draft } from './world-log.ts';

/** What all worlds of a log may hold together. */
export interface TotalLimits {
  readonly maxRecords: number;
  readonly maxAttempts: number;
  /** In the scenarios and rules that worlds choose. */
  readonly maxDocumentBytes: number;
}

/** What one world holds, as the bounds over all worlds count it. */
export interface Held {
  readonly records: number;
  readonly attempts: number;
  readonly documentBytes: number;
}

export const NOTHING: Held = { records: 0, attempts: 0, documentBytes: 0 };

export const heldBy = (state: Readonly<WorldState>): Held => ({
  records: recordsHeld(state),
  attempts: attemptsHeld(state.attempts),
  documentBytes: documentBytesHeld(state),
});

/** What all worlds of a log hold together, and may hold. */
export class Totals {
  readonly limits: TotalLimits;
  records = 0;
  attempts = 0;
  documentBytes = 0;
  uses = 0;
  /** What states hold that are being read beside their worlds. */
  #draftedRecords = 0;
  #draftedBytes = 0;

  constructor(limits: TotalLimits) {
    this.limits = limits;
  }

  get recordsFree(): number {
    return this.limits.maxRecords - this.records - this.#draftedRecords;
  }

  get attemptsFree(): number {
    return this.limits.maxAttempts - this.attempts;
  }

  get documentBytesFree(): number {
    return this.limits.maxDocumentBytes - this.documentBytes - this.#draftedBytes;
  }

  /** Counts what a world holds now in the place of what it held. */
  replace(before: Held, now: Held): void {
    this.records += now.records - before.records;
    this.attempts += now.attempts - before.attempts;
    this.documentBytes += now.documentBytes - before.documentBytes;
  }

  /** Counts a state that is being read beside its world. */
  draft(): Draft {
    let takenRecords = 0;
    let takenBytes = 0;
    return {
      grow: (records, documentBytes) => {
        const whole = Math.floor(takenRecords + records) - Math.floor(takenRecords); // some items are a part of one
        if (this.recordsFree < whole) throw full(this.limits.maxRecords);
        if (this.documentBytesFree < documentBytes) throw noRoomForDocument();
        takenRecords += records;
        takenBytes += documentBytes;
        this.#draftedRecords += whole;
        this.#draftedBytes += documentBytes;
      },
      end: () => {
        this.#draftedRecords -= Math.floor(takenRecords);
        this.#draftedBytes -= takenBytes;
        takenRecords = 0;
        takenBytes = 0;
      },
    };
  }
}
