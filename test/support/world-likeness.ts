import type { Model } from './model.ts';
import type { SnapshotWorld } from './snapshot-lines.ts';
import { MANNERS } from './world-moves.ts';

/** All that a model knows of a world, as one text: two worlds with the same one have the same future. */
interface Likeness {
  readonly nowMs: number | null;
  readonly balancePaise: number;
  /** Which scenario of the moves it has chosen. */
  readonly manner: number;
  readonly onTop: readonly (readonly [name: string, left: number])[];
  readonly payouts: readonly string[];
}

const textOf = (likeness: Likeness): string =>
  JSON.stringify({ ...likeness, payouts: likeness.payouts.toSorted() });

export const likenessOfModel = (model: Model): string =>
  textOf({
    nowMs: model.now,
    balancePaise: model.balance,
    manner: MANNERS.findIndex(({ manner }) => manner === model.manner),
    onTop: model.onTop.map(({ name, times }) => [name, times]),
    payouts: model.all().map(([reference, payout], place, all) => {
      const { amount, account, mode, state, reads, hiddenReads, plan } = payout;
      const nth = all.slice(0, place).filter(([earlier]) => earlier === reference).length + 1;
      const steps = plan.map(({ dueMs, polls, to }) => `${dueMs ?? polls} ${to}`);
      return [reference, nth, amount, account, mode, state, reads, hiddenReads, ...steps].join(' ');
    }),
  });

/** That of a world as it stands in a state file. */
export function likenessOfState({ head, rules, uses, payouts }: SnapshotWorld): string {
  const { clock, wallet, scenario } = head;
  const taken = new Map(uses.map((use) => [use.rule, use.taken]));
  const document = JSON.stringify(scenario.source.document);
  const manner = MANNERS.findIndex((known) => JSON.stringify(known.scenario) === document);
  return textOf({
    nowMs: clock.frozenAtMs,
    balancePaise: wallet.balancePaise,
    manner: manner === -1 ? 0 : manner, // the one in force, which a world has chosen once it was restored
    onTop: (rules as unknown as readonly { name: string; times: number }[]).map(({ name, times }) => [
      name,
      times - (taken.get(`world/${name}`) ?? 0),
    ]),
    payouts: payouts.map((payout) => {
      const { clientRefId, nth, amountPaise, beneficiaryAccount, transferMode, state, reads, hidden } =
        payout;
      const hiddenReads = hidden !== null && 'reads' in hidden ? hidden.reads : 0;
      const what = [
        clientRefId,
        nth,
        amountPaise,
        beneficiaryAccount,
        transferMode,
        state,
        reads,
        hiddenReads,
      ];
      const steps = payout.timeline.slice(payout.stepsDone);
      const dueMs = (afterMs: number | null) => (afterMs === null ? null : payout.createdAtMs + afterMs);
      return [...what, ...steps.map(({ afterMs, polls, to }) => `${dueMs(afterMs) ?? polls} ${to}`)].join(
        ' ',
      );
    }),
  });
}
