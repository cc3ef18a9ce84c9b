import type { RouteName } from '../contract/scenario.ts';
import type { Draw, PlannedStep } from '../payout/settlement.ts';

/** A delay of an answer, in ms of wall time. */
export type Delay =
  | { readonly fixedMs: number }
  | { readonly minMs: number; readonly maxMs: number }
  | { readonly medianMs: number; readonly sigma: number };

/** An answer in the place of the normal one. */
export interface Respond {
  readonly status: number;
  readonly code: string | null;
  readonly message: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** A text as it is, JSON, or null for the body that the dialect gives this status. */
  readonly body: unknown;
}

/** What happens to the connection. */
export type Fault =
  | { readonly kind: 'connection-reset' | 'empty-response' | 'truncated-body' | 'malformed-json' | 'garbage' }
  /** Until the client leaves, or for a time of the wall clock. */
  | { readonly kind: 'hang'; readonly forMs: number | null }
  | { readonly kind: 'slow-body'; readonly bytesPerSecond: number };

/** What a rule does. */
export interface Effect {
  readonly delay: Delay | null;
  readonly respond: Respond | null;
  readonly fault: Fault | null;
  /** Whether the payout happens, whatever the client sees. */
  readonly commit: boolean;
  readonly timeline: readonly PlannedStep[] | null;
  readonly hidden: { readonly reads: number } | { readonly forMs: number } | null;
  readonly staleMs: number | null;
}

/** What a rule can look at in a request. */
export interface RequestFacts {
  readonly route: RouteName;
  /** The fields of the body or the query, by their names in the interface. */
  readonly fields: Readonly<Record<string, string | number | undefined>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The how manieth time this route is asked for this reference, from 1; 0 when nobody counts. */
  readonly attempt: number;
  /** World time, ms since the epoch. */
  readonly nowMs: number;
}

export interface Rule {
  /** `scenario/rule`, as the header X-Sandbox-Rule says it. */
  readonly id: string;
  /** The rule as it was written. */
  readonly document: unknown;
  /** Whether anything in it depends on how often a reference was sent. */
  readonly countsAttempts: boolean;
  /** The size of its regular expressions (pattern-size.ts). */
  readonly patternSize: number;
  readonly matches: (facts: RequestFacts) => boolean;
  readonly skip: number;
  readonly times: number | null;
  readonly probability: number | null;
  readonly effect: Effect;
}

/** How often a rule matched a request of one world, and how often it was taken. */
export interface RuleUse {
  matched: number;
  taken: number;
}

/**
 * The first rule that matches, taken once: one that lets requests pass (`skip`), has been taken often enough (`times`) or
 * draws otherwise (`probability`) leaves the request to those below it.
 *
 * @param uses counters of this world by rule id; changed
 * @returns the rule, or null when none is taken
 */
export function takeRule(
  rules: readonly Rule[],
  facts: RequestFacts,
  uses: Map<string, RuleUse>,
  draw: Draw,
): Rule | null {
  for (const rule of rules) {
    if (!rule.matches(facts)) continue;
    const use = uses.get(rule.id) ?? { matched: 0, taken: 0 };
    uses.set(rule.id, use);
    use.matched += 1;
    if (use.matched <= rule.skip) continue;
    if (rule.times !== null && use.taken >= rule.times) continue;
    if (rule.probability !== null && draw(`rule ${rule.id}`) >= rule.probability) continue;
    use.taken += 1;
    return rule;
  }
  return null;
}

/** The standard normal deviate of two numbers drawn from 0 to 1 (Box and Muller, 1958). */
const normal = (one: number, other: number): number =>
  Math.sqrt(-2 * Math.log(1 - one)) * Math.cos(2 * Math.PI * other);

/** How long an answer waits, in whole ms of wall time. */
export function delayMs(delay: Delay, draw: Draw): number {
  if ('fixedMs' in delay) return delay.fixedMs;
  if ('minMs' in delay) return Math.round(delay.minMs + draw('delay') * (delay.maxMs - delay.minMs));
  return Math.round(delay.medianMs * Math.exp(delay.sigma * normal(draw('delay'), draw('delay again'))));
}
