import { useState } from 'preact/hooks';
import type { AdvanceRequest } from '../../contract/control.ts';
import type { AdvanceAnswer } from '../../contract/control-answers.ts';
import { useAction } from '../live/action.ts';
import { StateBadge } from '../detail/badges.tsx';
import { Moment } from '../detail/moment.tsx';
import { duration, istDay, istMoment, istTime, plural, utcMoment } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { useWorldNow } from '../live/world-time.ts';
import { AdvanceForm } from '../world/advance-form.tsx';
import { Refusal } from '../detail/refusal.tsx';

/** At most this many changes are listed; the rest is counted. */
const MOST_SHOWN = 50;

const MOVES: readonly (readonly [string, AdvanceRequest])[] = [
  ['+1 min', { by: '1m' }],
  ['+1 h', { by: '1h' }],
  ['+1 day', { by: '1d' }],
  ['+3 days', { by: '3d' }],
];

interface ChangesProps {
  readonly answer: AdvanceAnswer;
  readonly onOpen: (txnId: string) => void;
}

/** The changes of an advance. */
const Changes = ({ answer: { changes, now }, onOpen }: ChangesProps) => (
  <div class="changes">
    <h3>
      {changes.length === 0 ? 'No change' : plural(changes.length, 'change')} up to <Moment at={now} />
    </h3>
    <ul>
      {changes.slice(0, MOST_SHOWN).map((change, index) => (
        <li key={index}>
          <button type="button" class="link" onClick={() => onOpen(change.txn_id)}>
            {change.client_ref_id}
          </button>
          {change.to === change.from ? (
            <span>UTR {change.utr}</span>
          ) : (
            <span class="edge">
              <StateBadge state={change.from} />
              <span aria-hidden="true">→</span>
              <StateBadge state={change.to} />
            </span>
          )}
        </li>
      ))}
    </ul>
    {changes.length > MOST_SHOWN && (
      <p class="note">and {plural(changes.length - MOST_SHOWN, 'more', 'more')}</p>
    )}
  </div>
);

interface Props {
  readonly live: LiveWorld;
  readonly onOpenPayout: (txnId: string) => void;
}

/** World time, and the buttons that move it. */
export function ClockSection({ live, onOpenPayout }: Props) {
  const nowMs = useWorldNow(live);
  const { isBusy, refusal, run } = useAction();
  const [answer, setAnswer] = useState<AdvanceAnswer | null>(null);
  const { frozen: isFrozen, next_due: nextDue } = live.clock.value ?? { frozen: false, next_due: null };

  const advance = (move: AdvanceRequest): void =>
    run(async () => {
      const advanced = await live.world.clock.advance(move);
      setAnswer(advanced);
      live.takeAdvance(advanced);
      live.news.say(
        `World time is ${istMoment(advanced.now)}: ${plural(advanced.changes.length, 'payout step')} happened`,
      );
    });
  const toggle = (): void =>
    run(async () => {
      const { clock } = live.world;
      live.takeClock(await (isFrozen ? clock.resume() : clock.freeze()));
      live.news.say(isFrozen ? 'The clock is running' : 'The clock is frozen');
    });

  return (
    <section id="clock" class="card" aria-labelledby="clock-title">
      <header class="card-head">
        <h2 id="clock-title">Clock</h2>
        <span class={isFrozen ? 'badge frozen' : 'badge running'}>{isFrozen ? 'frozen' : 'running'}</span>
      </header>
      <div class="now" role="timer" aria-label="World time">
        <p class="time" title={nowMs === null ? undefined : utcMoment(nowMs)}>
          {nowMs === null ? '…' : istTime(nowMs)} <small>IST</small>
        </p>
        <p class="note">{nowMs === null ? '' : istDay(nowMs)}</p>
      </div>
      <p class="note due">
        {nextDue === null || nowMs === null
          ? 'Nothing scheduled'
          : `Next step in ${duration(Math.max(0, Date.parse(nextDue) - nowMs))}, ${istMoment(nextDue)}`}
      </p>
      <div class="buttons">
        <button type="button" class="button" disabled={isBusy} onClick={toggle}>
          {isFrozen ? 'Resume' : 'Freeze'}
        </button>
        {MOVES.map(([name, move]) => (
          <button key={name} type="button" class="button" disabled={isBusy} onClick={() => advance(move)}>
            {name}
          </button>
        ))}
        <button
          type="button"
          class="button"
          disabled={isBusy || nextDue === null}
          onClick={() => nextDue !== null && advance({ to: nextDue })}
        >
          To the next step
        </button>
        <button type="button" class="button" disabled={isBusy} onClick={() => advance({ until: 'idle' })}>
          Until idle
        </button>
      </div>
      {nowMs !== null && <AdvanceForm nowMs={nowMs} nextDue={nextDue} isBusy={isBusy} advance={advance} />}
      <Refusal text={refusal} />
      {answer !== null && <Changes answer={answer} onOpen={onOpenPayout} />}
    </section>
  );
}
