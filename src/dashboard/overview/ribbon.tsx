import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { advance } from '../actions/clock-moves.ts';
import { useAction, useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { worldNowMs } from '../store/world-time.ts';
import { counted, grouped, rupees } from '../../contract/words.ts';
import { duration, istMoment, istShortDay, istTime } from '../ui/formats.ts';
import { Button } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import { useSize } from '../ui/size.ts';
import { Preview } from './preview.ts';
import {
  barsOf,
  LANES,
  msAt,
  ticksOf,
  timeScale,
  xOf,
  type Bar,
  type Lane,
  type TimeScale,
} from './time-scale.ts';
import css from './overview.module.css';

const MOST_PAYOUTS = 5000;
const LANE = 26;
const LEFT = 76;
const RIGHT = 28;
const AXIS = 34;
const HEIGHT = LANES.length * LANE + AXIS;
const LABEL_EVERY = 130;
const DAY_MS = 86_400_000;

const NAMES: Readonly<Record<Lane, string>> = { made: 'Made', settled: 'Settled', back: 'Returned' };

const barHeight = ({ count }: Bar): number => Math.min(LANE - 6, 6 + Math.log2(count) * 3);

/** The bars of all lanes. A scheduled step is hollow. */
const Bars = ({ bars }: { readonly bars: readonly Bar[] }) => (
  <>
    {bars.map((bar) => {
      const { x, lane, isAhead, isRisk, count } = bar;
      const height = barHeight(bar);
      return (
        <rect
          key={`${x} ${lane} ${isAhead} ${isRisk}`}
          class={css.bar}
          data-lane={lane}
          data-ahead={isAhead ? '' : undefined}
          data-risk={isRisk ? '' : undefined}
          x={x - 1.5}
          y={(LANES.indexOf(lane) + 1) * LANE - 4 - height}
          width={3}
          height={height}
        >
          <title>{`${grouped(count)} ${NAMES[lane].toLowerCase()}${isRisk ? ', at risk' : ''}${isAhead ? ', scheduled' : ''}`}</title>
        </rect>
      );
    })}
  </>
);

/** Times below the ribbon, at even distances although time is not. */
function Times({ scale, nowX }: { readonly scale: TimeScale; readonly nowX: number }) {
  const count = Math.max(1, Math.floor(scale.width / LABEL_EVERY));
  const places = Array.from({ length: count + 1 }, (_, nth) => (nth * scale.width) / count);
  const minutes = places.map((x) => Math.floor(msAt(scale, x) / 60_000));
  const digits = new Set(minutes).size < minutes.length ? 8 : 5; // with seconds where minutes repeat
  return (
    <>
      {places.map((x) => {
        if (Math.abs(x - nowX) < LABEL_EVERY / 3) return null; // “now” is there
        const atMs = msAt(scale, x);
        return (
          <text key={x} x={x} y={HEIGHT - 20} class={css.time}>
            <tspan x={x}>{istTime(atMs).slice(0, digits)}</tspan>
            <tspan x={x} dy="14">
              {istShortDay(atMs)}
            </tspan>
          </text>
        );
      })}
    </>
  );
}

interface FutureProps {
  readonly preview: Preview;
  readonly nowMs: number;
  /** Advances the world to the time that is looked at. */
  readonly keep: () => void;
  readonly leave: () => void;
}

/** What the world would be at the time that is looked at. */
function FutureText({ preview, nowMs, keep, leave }: FutureProps) {
  const atMs = preview.atMs.value;
  const future = preview.future.value;
  const states = Object.entries(future?.transactions ?? {}).filter(([, count]) => count > 0);
  return (
    <div class={css.future}>
      <p role="status" aria-label="Preview">
        <strong>{istMoment(atMs)}</strong>, in {duration(Math.max(0, atMs - nowMs))}:{' '}
        {preview.trouble.value ??
          (future === null
            ? 'loading'
            : `${states.map(([state, count]) => `${grouped(count)} ${state}`).join(', ') || 'no payouts'}; balance ${rupees(future.balance)}; ${counted(future.at_risk.count, 'payout')} at risk`)}
        .
      </p>
      <Button kind="small" title="Enter" act={keep}>
        Advance
      </Button>
      <Button kind="small" isLocal title="Esc" act={leave}>
        Cancel
      </Button>
    </div>
  );
}

/** What is looked at; null while nobody looks ahead. In a function of its own: a cleanup in `Ribbon` would keep the rows of a rendering. */
function usePreview({ payouts, requests, scenario, wallet }: LiveWorld) {
  const state = useState<Preview | null>(null);
  const [preview] = state;
  const changes = [payouts.rows.value, requests.rows.value, scenario.value, wallet.value?.balance];
  useEffect(() => preview?.renew(), changes);
  useEffect(() => () => preview?.close(), [preview]);
  return state;
}

/** World time with what was made, settled and returned, what is scheduled, and what is at risk. Dragging “now” to the right previews the future. */
export function Ribbon() {
  const live = useLive();
  const box = useRef<HTMLDivElement>(null);
  const width = Math.max(0, useSize(box).width - LEFT - RIGHT);
  const [preview, setPreview] = usePreview(live);
  const isDragged = useRef(false);
  const { isBusy, refusal, run } = useAction();
  const nowMs = worldNowMs(live) ?? 0;
  const rows = live.payouts.rows.value;

  const { ticks, ahead } = useMemo(() => {
    const all = ticksOf(rows.slice(0, MOST_PAYOUTS));
    const scheduled = all.filter(({ isAhead }) => isAhead).map(({ atMs }) => atMs);
    return { ticks: all, ahead: scheduled.toSorted((a, b) => a - b) };
  }, [rows]);
  const minute = preview === null ? Math.floor(nowMs / 5000) : null; // it stands still while somebody looks ahead
  const { scale, bars } = useMemo(() => {
    const lastMs = ticks.reduce((last, { atMs }) => Math.max(last, atMs), nowMs);
    const endMs = lastMs > nowMs ? lastMs + (lastMs - nowMs) / 10 : nowMs + DAY_MS;
    const made = timeScale([...ticks.map(({ atMs }) => atMs), nowMs, endMs], width);
    return { scale: made, bars: barsOf(ticks, made) };
  }, [ticks, width, minute]);
  const nowX = xOf(scale, nowMs);
  const lookX = preview === null ? nowX : xOf(scale, preview.atMs.value);

  const look = (atMs: number): void => {
    const one = preview ?? new Preview(live);
    one.look(Math.min(Math.max(atMs, nowMs), scale.atMs.at(-1)!)); // no key goes beyond the axis
    setPreview(one);
  };
  const leave = (): void => {
    isDragged.current = false; // the button may still be down
    setPreview(null);
  };
  const keep = (): void => {
    const atMs = preview?.atMs.value ?? nowMs;
    if (atMs > nowMs) run(() => advance(live, { to: new Date(atMs).toISOString() }), ['clock']);
    leave();
  };
  const atPointer = ({ clientX }: PointerEvent): number =>
    msAt(scale, clientX - box.current!.getBoundingClientRect().left - LEFT);
  const onKeyDown = (event: KeyboardEvent): void => {
    const fromMs = preview?.atMs.value ?? nowMs;
    if (event.key === 'ArrowRight') look(ahead.find((ms) => ms > fromMs) ?? fromMs + DAY_MS);
    else if (event.key === 'ArrowLeft') look(ahead.findLast((ms) => ms < fromMs) ?? nowMs);
    else if (event.key === 'Enter') keep();
    else if (event.key === 'Escape' && preview !== null) leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isCut = rows.length > MOST_PAYOUTS || live.payouts.before.value > 0;
  return (
    <figure class="stack">
      <div ref={box} class={css.plot}>
        {width > 0 && (
          <svg width="100%" height={HEIGHT} aria-hidden="true">
            {LANES.map((lane, nth) => (
              <g key={lane}>
                <text x={0} y={(nth + 1) * LANE - 8}>
                  {NAMES[lane]}
                </text>
                <path class={css.grid} d={`M${LEFT} ${(nth + 1) * LANE - 2} h${width}`} />
              </g>
            ))}
            <g transform={`translate(${LEFT} 0)`}>
              {lookX > nowX && (
                <rect class={css.looked} x={nowX} width={lookX - nowX} height={LANES.length * LANE} />
              )}
              <Bars bars={bars} />
              <Times scale={scale} nowX={nowX} />
              <line class={css.nowLine} x1={lookX} x2={lookX} y1={0} y2={LANES.length * LANE + 6} />
              <text x={nowX} y={HEIGHT - 20} class={css.time} data-now="">
                now
              </text>
            </g>
          </svg>
        )}
        <div
          class={css.handle}
          style={{ left: `${LEFT + lookX}px` }}
          role="slider"
          tabIndex={0}
          aria-label="Now: move it to the right to look ahead"
          aria-valuemin={0}
          aria-valuemax={Math.round(scale.width)}
          aria-valuenow={Math.round(lookX)}
          aria-valuetext={preview === null ? 'now' : istMoment(preview.atMs.value)}
          onKeyDown={onKeyDown}
          onPointerDown={(event) => {
            if (isBusy || live.away.value !== null) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            isDragged.current = true;
          }}
          onPointerMove={(event) => {
            if (isDragged.current) look(atPointer(event));
          }}
          onPointerUp={() => void (isDragged.current = false)}
          onPointerCancel={leave}
        />
      </div>
      {preview === null ? (
        <figcaption class="note">
          {isCut && `The newest ${grouped(MOST_PAYOUTS)} payouts. `}Time without events is compressed. Drag{' '}
          <em>now</em> to the right to see the future.
        </figcaption>
      ) : (
        <FutureText preview={preview} nowMs={nowMs} keep={keep} leave={leave} />
      )}
      <Refusal text={refusal} />
    </figure>
  );
}
