import { full } from '../world/state.ts';
import type { Draft } from './world-log.ts';

/** What all worlds of a log hold together, and may hold. */
export class Totals {
  readonly maxRecords: number;
  readonly maxAttempts: number;
  records = 0;
  attempts = 0;
  uses = 0;
  /** Records of states that are being read beside their worlds. */
  #drafted = 0;

  constructor(maxRecords: number, maxAttempts: number) {
    this.maxRecords = maxRecords;
    this.maxAttempts = maxAttempts;
  }

  get recordsFree(): number {
    return this.maxRecords - this.records - this.#drafted;
  }

  /** Counts a state that is being read beside its world. */
  draft(): Draft {
    let taken = 0;
    return {
      grow: (records) => {
        if (this.recordsFree < records) throw full(this.maxRecords);
        taken += records;
        this.#drafted += records;
      },
      end: () => {
        this.#drafted -= taken;
        taken = 0;
      },
    };
  }
}
