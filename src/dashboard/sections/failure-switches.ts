import type { RuleRequest } from '../../contract/control.ts';
import type { RuleAnswer, ScenarioAnswer } from '../../contract/control-answers.ts';

/** A failure that can be switched on for every payout. */
interface FailureSwitch {
  readonly label: string;
  readonly rule: RuleRequest & { readonly name: string };
}

const match = { route: 'initiate' } as const;

/** The common failures, one click away. */
export const FAILURE_SWITCHES: readonly FailureSwitch[] = [
  { label: '402', rule: { name: 'always-402', match, effect: { respond: { status: 402 } } } },
  { label: '429', rule: { name: 'always-429', match, effect: { respond: { status: 429 } } } },
  { label: '500', rule: { name: 'always-500', match, effect: { respond: { status: 500 } } } },
  {
    label: '500 after commit',
    rule: { name: '500-after-commit', match, effect: { commit: true, respond: { status: 500 } } },
  },
  {
    label: 'Hang after commit',
    rule: { name: 'hang-after-commit', match, effect: { commit: true, fault: 'hang' } },
  },
  {
    label: 'Reset after commit',
    rule: { name: 'reset-after-commit', match, effect: { commit: true, fault: 'connection-reset' } },
  },
  { label: 'Delay by 5 s', rule: { name: 'delay-5s', match, effect: { delay: '5s' } } },
  { label: 'Hold before commit', rule: { name: 'hold-arrived', match, effect: { hold: 'arrived' } } },
  { label: 'Hold after commit', rule: { name: 'hold-committed', match, effect: { hold: 'committed' } } },
];

/** The parts of a rule and of an outcome that the page reads. */
interface Written {
  readonly match?: Readonly<Record<string, unknown>>;
  readonly effect?: NonNullable<RuleRequest['effect']>;
  readonly timeline?: RuleRequest['effect']['timeline'];
  readonly not_found?: RuleRequest['effect']['not_found'];
}

/** The effects of magic beneficiaries, as headings of the menu. */
export const MAGIC_KINDS = [
  'Normal answer, then',
  'Paid, but the client sees',
  'Not paid, the client sees',
] as const;

/** An account that forces an answer or an outcome. */
export interface MagicBeneficiary {
  readonly id: string;
  readonly name: string;
  readonly account: string;
  readonly kind: (typeof MAGIC_KINDS)[number];
  readonly description: string;
  /** Does the same for every payout, whatever its account. */
  readonly forEveryPayout: RuleRequest;
}

const isPaid = ({ commit, respond, fault }: RuleRequest['effect']): boolean =>
  commit === true || (respond === undefined && fault === undefined);

/** The magic beneficiaries of a world: its magic outcomes, and its magic rules. */
export function magicBeneficiaries(scenario: ScenarioAnswer | null): readonly MagicBeneficiary[] {
  const { outcomes = [], rules = [] } = scenario ?? {};
  const beneficiary = (
    { id, name, description }: Pick<RuleAnswer, 'id' | 'name' | 'description'>,
    { match: { beneficiary_account: account, ...match } = {}, effect, timeline, not_found }: Written,
  ): MagicBeneficiary => ({
    id,
    name,
    account: String(account),
    kind: MAGIC_KINDS[effect === undefined ? 0 : isPaid(effect) ? 1 : 2],
    description: description === '' ? name : description,
    forEveryPayout: {
      name,
      match: { ...match, route: 'initiate' },
      effect: effect ?? { ...(timeline && { timeline }), ...(not_found && { not_found }) },
    },
  });
  return [
    ...outcomes.filter(({ from }) => from === 'magic').map((one) => beneficiary(one, one.outcome as Written)),
    ...rules.filter(({ from }) => from === 'magic').map((one) => beneficiary(one, one.rule as Written)),
  ];
}
