import { useEffect, useMemo, useState } from 'preact/hooks';
import type { AdvanceRequest } from '../../contract/control.ts';
import { address, openPayout } from '../shell/navigation.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { worldNowMs } from '../store/world-time.ts';
import { Button, submits } from '../ui/button.tsx';
import { Choice } from '../ui/choice.tsx';
import { duration, istShortDay, istMoment, istTime, utcMoment } from '../ui/formats.ts';
import { Foreign, Refusal } from '../ui/marks.tsx';
import { advance, setSpeed, SPEEDS, speedText, toggleClock } from './clock-moves.ts';
import css from './actions.module.css';

type Mover = (to: string | AdvanceRequest, moved?: () => void) => void;

const ADVANCES = 'write a duration such as 2h 30m, a time such as 2026-12-01 09:00, or idle';

interface AdvanceProps {
  readonly isBusy: boolean;
  /** Hides why the last text was refused. */
  readonly clear: () => void;
  readonly onMove: Mover;
}

/** Advances the clock by a duration, to a time or until nothing is scheduled, as the sandbox reads the text. */
function AdvanceForm({ isBusy, clear, onMove }: AdvanceProps) {
  const [text, setText] = useState('');
  useEffect(clear, [text, address.value.view]);
  const submit = (): void => {
    if (text.trim() !== '') onMove(text.trim(), () => setText(''));
  };
  return (
    <form class={css.advance} onSubmit={submits(submit)}>
      <input
        name="advance"
        aria-label="Advance to"
        autoComplete="off"
        placeholder="2h 30m, idle, …"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {text.trim() !== '' && (
        <Button isSubmit isBusy={isBusy}>
          Go
        </Button>
      )}
    </form>
  );
}

const MOVES = { '+1 h': '1h', '+1 day': '1d', '+3 days': '3d' };

/** The next step of all payouts: whose it is, and when. */
function NextStep({ nowMs, onMove }: { readonly nowMs: number; readonly onMove: Mover }) {
  const { clock, payouts } = useLive();
  const due = clock.value?.next_due ?? null;
  const rows = payouts.rows.value;
  const whose = useMemo(() => {
    const isNext = ({ done, at }: { readonly done: boolean; readonly at: string | null }) =>
      !done && at === due;
    const payout = due === null ? undefined : rows.find(({ timeline }) => timeline.some(isNext));
    return payout && { payout, step: payout.timeline.find(isNext)! };
  }, [due, rows]);
  if (due === null) return <span class={`dim ${css.next}`}>Nothing scheduled</span>;
  return (
    <span class={css.next}>
      <span class="dim">next</span>{' '}
      {whose !== undefined && (
        <>
          <Button
            kind="link"
            isLocal
            title={`${whose.payout.client_ref_id}: ${whose.step.to ?? 'UTR'} at ${istMoment(due)}`}
            act={() => openPayout(whose.payout.txn_id)}
          >
            <Foreign text={whose.payout.client_ref_id} />
          </Button>{' '}
        </>
      )}
      <span>in {duration(Math.max(0, Date.parse(due) - nowMs))}</span>{' '}
      <Button kind="small" label="Go to the next step" act={() => onMove({ to: due })}>
        Go
      </Button>
    </span>
  );
}

/** World time, and what moves it. */
export function ClockControls() {
  const live = useLive();
  const nowMs = worldNowMs(live);
  const { isBusy, refusal, run, clear } = useAction();
  const reading = live.clock.value;
  const move: Mover = (to, moved) =>
    run(async () => {
      const text = await advance(live, to);
      moved?.();
      return text;
    }, ['clock']);
  if (reading === null || nowMs === null) return <span class="dim">…</span>;
  const { frozen: isFrozen, speed } = reading;
  const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed];
  return (
    <>
      <div class={css.clock} role="group" aria-label="Clock">
        <Button
          isBusy={isBusy}
          label={isFrozen ? 'Resume' : 'Freeze'}
          title={isFrozen ? 'Resume the clock (f)' : 'Freeze the clock (f)'}
          act={() => toggleClock(live)}
        >
          <span aria-hidden="true">{isFrozen ? '▶' : '❚❚'}</span>
        </Button>
        <span
          class={css.now}
          role="timer"
          aria-label="World time"
          title={`${istMoment(nowMs)}; ${utcMoment(nowMs)}`}
        >
          {istTime(nowMs)} <span class={`dim ${css.zone}`}>IST </span>
          <span class="dim">{istShortDay(nowMs)}</span>
          {live.away.value !== null && <span class="dim"> last known</span>}
        </span>
        <span class={css.moves}>
          <Choice
            label="Speed of the clock"
            value={String(speed)}
            options={speeds.map((one) => [String(one), speedText(one)])}
            onChoose={(chosen) => setSpeed(live, Number(chosen))}
          />
          {Object.entries(MOVES).map(([name, by]) => (
            <Button key={name} isBusy={isBusy} act={() => move({ by })}>
              {name}
            </Button>
          ))}
          <AdvanceForm isBusy={isBusy} clear={clear} onMove={move} />
        </span>
        <NextStep nowMs={nowMs} onMove={move} />
      </div>
      <Refusal text={refusal?.replace(/^by must be a .*PT90S/, ADVANCES) ?? null} />
    </>
  );
}
