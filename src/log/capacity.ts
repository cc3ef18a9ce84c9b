import { full } from '../world/payout-refusals.ts';
import type { Draft } from './world-log.ts';

/** How many records all worlds together may hold, as SANDBOX_MAX_TRANSACTIONS counts them. */
export class Capacity {
  readonly maxRecords: number;
  records = 0;
  #drafted = 0;

  constructor(maxRecords: number) {
    this.maxRecords = maxRecords;
  }

  get free(): number {
    return this.maxRecords - this.records - this.#drafted;
  }

  /** Counts a state that is being read beside its world. */
  draft(): Draft {
    let taken = 0;
    return {
      grow: (records) => {
        if (this.free < records) throw full(this.maxRecords);
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
