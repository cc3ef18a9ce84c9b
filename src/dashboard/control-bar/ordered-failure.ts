import type { RuleResponse } from '../../contract/control-responses.ts';

/** A rule that makes every payout look failed to its client. */
interface OrderedFailure {
  readonly rule: RuleResponse;
  /** What the client sees, in words: `gets a 500` */
  readonly seen: string;
  readonly isPaid: boolean;
  /** How many more payouts it applies to; null for all. */
  readonly left: number | null;
}

/** The parts of a rule document that decide whether it fails every payout. */
interface RuleText {
  readonly match?: Readonly<Record<string, unknown>>;
  readonly effect?: {
    readonly commit?: boolean;
    readonly respond?: number | { readonly status?: number };
    readonly fault?: string | { readonly kind: string };
    readonly limit?: unknown;
  };
  readonly times?: number;
}

const FIRST_REFUSAL = 400;
/** A rule with other fields than these does not apply to every payout. */
const FIELDS = new Set(['name', 'description', 'match', 'effect', 'times']);
const EFFECTS = new Set(['commit', 'respond', 'fault', 'delay', 'timeline']);

function seenBy({ respond, fault }: NonNullable<RuleText['effect']>): string | null {
  const kind = typeof fault === 'object' ? fault.kind : fault;
  if (kind === 'hang') return 'gets no response';
  if (kind !== undefined && kind !== 'slow-body') return `ends in ${kind}`;
  const status = typeof respond === 'object' ? respond.status : respond;
  return status !== undefined && status >= FIRST_REFUSAL ? `gets a ${status}` : null;
}

/** How many more payouts a rule takes, whatever they are; null for all. */
function leftOf({ rule, taken }: RuleResponse): number | null {
  const { times } = rule as RuleText;
  return times === undefined ? null : times - taken;
}

function takesEvery(rule: RuleResponse): boolean {
  const text = rule.rule as RuleText;
  const { route = 'initiate', ...others } = text.match ?? {};
  return (
    [route].flat().includes('initiate') &&
    Object.keys(others).length === 0 &&
    Object.keys(text).every((name) => FIELDS.has(name)) &&
    text.effect?.limit === undefined && // below its limit, the next rule is tried
    leftOf(rule) !== 0
  );
}

/** The failure that is ordered for every payout; null if there is none. @param rules in the order in which they are tried */
export function orderedFailure(rules: readonly RuleResponse[]): OrderedFailure | null {
  const rule = rules.find(takesEvery); // those after it are not tried
  if (rule === undefined) return null;
  const { effect = {} } = rule.rule as RuleText;
  const seen = Object.keys(effect).every((name) => EFFECTS.has(name)) ? seenBy(effect) : null;
  return seen === null ? null : { rule, seen, isPaid: effect.commit === true, left: leftOf(rule) };
}

/** `Every payout gets a 500, although it is made`, `The next 2 payouts …` */
export function failureText({ seen, isPaid, left }: OrderedFailure): string {
  const which =
    left === null ? 'Every payout' : left === 1 ? 'The next payout' : `Each of the next ${left} payouts`;
  return `${which} ${seen}${isPaid ? ', although it is made' : ', and is not made'}`;
}
