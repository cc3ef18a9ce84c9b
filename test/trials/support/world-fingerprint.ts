import type { Model } from '../../support/world/model.ts';
import type { SnapshotWorld } from '../../support/world/snapshot-lines.ts';
import { BEHAVIOURS } from '../../support/world/world-moves.ts';

/** Everything a model knows about a world, as one text. Worlds with the same fingerprint have the same future. */
interface Fingerprint {
  readonly nowMs: number | null;
  readonly balancePaise: number;
  /** Which scenario of the moves it has chosen. */
  readonly behaviour: number;
  readonly overrides: readonly (readonly [name: string, left: number])[];
  readonly payouts: readonly string[];
}

const textOf = (fingerprint: Fingerprint): string =>
  JSON.stringify({ ...fingerprint, payouts: fingerprint.payouts.toSorted() });

export const fingerprintOfModel = (model: Model): string =>
  textOf({
    nowMs: model.now,
    balancePaise: model.balance,
    behaviour: BEHAVIOURS.findIndex(({ behaviour }) => behaviour === model.behaviour),
    overrides: model.overrides.map(({ name, times }) => [name, times]),
    payouts: model.all().map(([reference, payout], place, all) => {
      const { amount, account, mode, state, reads, hiddenReads, plan } = payout;
      const nth = all.slice(0, place).filter(([earlier]) => earlier === reference).length + 1;
      const steps = plan.map(({ dueMs, polls, to }) => `${dueMs ?? polls} ${to}`);
      return [reference, nth, amount, account, mode, state, reads, hiddenReads, ...steps].join(' ');
    }),
  });

/** The fingerprint of a world in a state file. */
export function fingerprintOfState({ head, rules, uses, payouts }: SnapshotWorld): string {
  const { clock, wallet, scenario } = head;
  const taken = new Map(uses.map((use) => [use.rule, use.taken]));
  const document = JSON.stringify(scenario.source.document);
  const behaviour = BEHAVIOURS.findIndex((known) => JSON.stringify(known.scenario) === document);
  return textOf({
    nowMs: clock.frozenAtMs,
    balancePaise: wallet.balancePaise,
    behaviour: behaviour === -1 ? 0 : behaviour, // the active scenario, which a restored world has chosen
    overrides: (rules as unknown as readonly { name: string; times: number }[]).map(({ name, times }) => [
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
