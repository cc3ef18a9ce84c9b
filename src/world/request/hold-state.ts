import type { Effect, Hold } from '../../scenario/rule.ts';
import type { Decided } from '../journal/kept-request.ts';
import type { RequestCommand } from './request-commands.ts';

/** A request that waits to be released. */
export interface HeldRequest extends Hold {
  /** Which held request of its world it is, from 1. Never reused. */
  readonly id: number;
  /** The effect of the rule that holds it, which may be gone when the request is released. */
  readonly effect: Effect;
  /** As it was when it was held. */
  readonly exchange: Decided;
  /** Wall time at which it expires, ms since the epoch. */
  readonly untilMs: number;
  /** The command to handle when it is released; null when it was handled before. */
  readonly command: RequestCommand | null;
}

/** The requests of one world that wait to be released. */
export interface HeldRequests {
  /** How many there have been. */
  readonly made: number;
  /** In the order in which they arrived. */
  readonly waiting: readonly HeldRequest[];
  /** The latest that nobody released in time. */
  readonly expired: readonly HeldRequest[];
}

/** @param made how many requests of the world were held before */
export const noneHeld = (made: number): HeldRequests => ({ made, waiting: [], expired: [] });

/** What the client of a released request sees, if that differs from what the rule orders. */
export type ReleaseOrder = Pick<Effect, 'respond' | 'fault'>;

/** How the wait of a held request ended: it was released, it expired, or its client left. */
export type Released = 'released' | 'expired' | 'left';
