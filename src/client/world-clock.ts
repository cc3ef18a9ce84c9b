import type { AdvanceRequest } from '../contract/control.ts';
import type { AdvanceAnswer, ClockAnswer } from '../contract/control-answers.ts';
import type { ControlClient } from './control-client.ts';

/** The time of one world. It never goes backwards. */
export class WorldClock {
  readonly #control: ControlClient;

  constructor(control: ControlClient) {
    this.#control = control;
  }

  /** World time, whether it stands still, and when the next step of a payout is due. */
  read(): Promise<ClockAnswer> {
    return this.#control.get('/clock');
  }

  /** World time. */
  async now(): Promise<Date> {
    return new Date((await this.read()).now);
  }

  /** Stops it where it stands. */
  freeze(): Promise<ClockAnswer> {
    return this.#control.post('/clock/freeze');
  }

  /** Lets it run on from where it stands. */
  resume(): Promise<ClockAnswer> {
    return this.#control.post('/clock/resume');
  }

  /**
   * Makes it that of a new world.
   *
   * @throws SandboxError CLOCK_BACKWARDS when that is behind, and something has happened in this world
   */
  reset(): Promise<ClockAnswer> {
    return this.#control.post('/clock/reset');
  }

  /**
   * Moves it forward, and resolves when all that came due has happened.
   *
   * @param move a duration (`'90s'`, `'2h'`, `'3d'`), `'idle'` until nothing is planned any more, or `{ by }`, `{ to }` (a time), `{ until: 'idle' }`
   * @returns the time then, and what changed, in the order in which it happened
   */
  advance(move: string | AdvanceRequest): Promise<AdvanceAnswer> {
    const body = typeof move !== 'string' ? move : move === 'idle' ? { until: move } : { by: move };
    return this.#control.post('/clock/advance', body);
  }
}
