import type { AdvanceRequest } from '../contract/control.ts';
import type { AdvanceResponse, ClockResponse } from '../contract/control-responses.ts';
import type { ControlClient } from './control-client.ts';

/** The clock of one world. It never goes backwards. */
export class WorldClock {
  readonly #control: ControlClient;

  constructor(control: ControlClient) {
    this.#control = control;
  }

  /** World time, whether the clock is frozen, and when the next step of a payout is due. */
  read(): Promise<ClockResponse> {
    return this.#control.get('/clock');
  }

  /** World time. */
  async now(): Promise<Date> {
    return new Date((await this.read()).now);
  }

  /** Lets the clock go on from its time at this speed: so many seconds in a second of real time, from 0 (frozen) to 86,400. */
  speed(speed: number): Promise<ClockResponse> {
    return this.#control.put('/clock', { speed });
  }

  /** Freezes the clock at its current time: speed 0. */
  freeze(): Promise<ClockResponse> {
    return this.speed(0);
  }

  /** Lets the clock run in real time from its current time: speed 1. */
  resume(): Promise<ClockResponse> {
    return this.speed(1);
  }

  /**
   * Moves the clock forward, and resolves when all steps that are due by then are applied.
   *
   * @param move a duration (`'90s'`, `'2h'`, `'3d'`), a time (`'2026-12-01 10:00'` in IST, or with an offset), `'idle'` until nothing is
   *   scheduled, or `{ by }`, `{ to }`, `{ until: 'idle' }`
   * @returns the new time, and the steps that were applied, in order
   */
  advance(move: string | AdvanceRequest): Promise<AdvanceResponse> {
    const bodyOf = (text: string): AdvanceRequest =>
      text === 'idle' ? { until: text } : /^\d{4}-/.test(text) ? { to: text } : { by: text };
    return this.#control.post('/clock/advance', typeof move === 'string' ? bodyOf(move) : move);
  }
}
