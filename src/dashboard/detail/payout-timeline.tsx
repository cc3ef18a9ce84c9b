import type { TransactionAnswer } from '../../contract/control-answers.ts';
import { duration, utcMoment, istMoment } from '../lists/formats.ts';
import { Moment } from './moment.tsx';

type Step = TransactionAnswer['timeline'][number];

/** What a step does, in words. @param isFirstUtr whether no earlier step sets the UTR */
const stepName = ({ to, utr, forced }: Step, isFirstUtr: boolean): string =>
  `${to ?? 'UTR set'}${to !== null && utr && isFirstUtr ? ', with its UTR' : ''}${forced ? ' (forced)' : ''}`;

/** When a step happened or is due, in words. */
function stepWhen({ at, polls, done }: Step, createdMs: number, nowMs: number): string {
  if (at === null) return `waits for status read ${polls ?? ''}`;
  const after = `${duration(Date.parse(at) - createdMs)} after creation`;
  if (done) return `${istMoment(at)} · ${after}`;
  return `due in ${duration(Math.max(0, Date.parse(at) - nowMs))} · ${istMoment(at)}`;
}

/** The timeline of a payout: its creation, its past steps and its scheduled steps. */
export function PayoutTimeline({
  payout,
  nowMs,
}: {
  readonly payout: TransactionAnswer;
  readonly nowMs: number;
}) {
  const createdMs = Date.parse(payout.created_at);
  return (
    <ol class="timeline" aria-label="Timeline">
      <li class="done state-pending">
        <strong>Created, PENDING</strong>
        <span>
          <Moment at={payout.created_at} />
        </span>
      </li>
      {payout.timeline.map((step, index) => (
        <li
          key={index}
          class={`${step.done ? 'done' : 'ahead'} state-${(step.to ?? payout.status).toLowerCase()}`}
        >
          <strong>{stepName(step, !payout.timeline.slice(0, index).some(({ utr }) => utr))}</strong>
          <span title={step.at === null ? undefined : utcMoment(step.at)}>
            {stepWhen(step, createdMs, nowMs)}
          </span>
        </li>
      ))}
      {payout.timeline.every(({ done }) => done) && payout.status === 'PENDING' && (
        <li class="ahead state-pending">
          <strong>PENDING forever</strong>
          <span>nothing is scheduled</span>
        </li>
      )}
    </ol>
  );
}
