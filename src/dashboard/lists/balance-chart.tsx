import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { BalancePoint } from './balance-line.ts';
import { balanceAxis, stepPath, type BalanceAxis } from './balance-scale.ts';
import { duration, istMoment, istShortDay, plural, rupees, signedRupees } from './formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { timeTicks } from './time-ticks.ts';

const HEIGHT = 140;
const TOP = 8;
/** The width of a digit of a label, and the space next to it. */
const DIGIT = 6.5;
const BESIDE = 12;
/** The least distance between two times in px. */
const TIME_WIDTH = 84;
const NOW_WIDTH = 76;
/** Up to this many changes, each has a dot. */
const MOST_DOTS = 60;

/** Where the line begins: next to the longest label. */
const leftOf = ({ ticks }: BalanceAxis): number =>
  BESIDE + Math.ceil(DIGIT * Math.max(...ticks.map(({ label }) => label.length)));

/** One change, in words. */
function changeText({ kind, amount, balance, atMs }: BalancePoint, before: BalancePoint | undefined): string {
  const what = before === undefined && kind === 'opening' ? 'opened' : `${kind} ${signedRupees(amount)}`;
  const sinceMs = before === undefined ? 0 : atMs - before.atMs;
  const later = sinceMs > 0 ? `, ${duration(sinceMs)} after the previous change` : '';
  return `${rupees(balance)} after ${what} · ${istMoment(atMs)}${later}`;
}

/** What the chart shows, in words. */
function rangeText(points: readonly BalancePoint[], older: number, isFromZero: boolean): string {
  const changes = points.length - (points[0]!.kind === 'opening' ? 1 : 0);
  const parts = [
    changes === 0
      ? `No change since ${istMoment(points[0]!.atMs)}`
      : `${plural(changes, 'change')} from ${istMoment(points[0]!.atMs)} to now${changes > 1 ? ', all of the same width' : ''}`,
    ...(older > 0 ? [`${plural(older, 'older one', 'older ones')} not shown`] : []),
    ...(isFromZero ? [] : ['the axis does not start at ₹0']),
  ];
  return parts.join(' · ');
}

interface PlotProps {
  readonly points: readonly BalancePoint[];
  readonly axis: BalanceAxis;
  /** The date now. */
  readonly today: string;
  readonly width: number;
  readonly pointed: number | null;
  readonly atRisk: ReadonlyMap<string, unknown>;
}

function Plot({ points, axis, today, width, pointed, atRisk }: PlotProps) {
  const left = leftOf(axis);
  const inner = width - left;
  const slot = inner / points.length;
  const y = (balance: number): number => TOP + (HEIGHT * (axis.to - balance)) / (axis.to - axis.from);
  const balances = points.map(({ balance }) => balance);
  const path = useMemo(() => stepPath(balances, inner, y), [axis, inner]);
  const times = useMemo(() => {
    const atMs = points.map((point) => point.atMs);
    const last = Math.min(points.length - 1, Math.floor((inner - NOW_WIDTH) / slot));
    return timeTicks(atMs, Math.ceil(TIME_WIDTH / slot), last);
  }, [points, slot]);
  const bottom = TOP + HEIGHT;
  const risky = points.flatMap(({ txnId, kind }, index) =>
    kind === 'payout' && txnId !== null && atRisk.has(txnId) ? [index] : [],
  );
  const dots = points.length <= MOST_DOTS ? points.keys() : risky;
  const riskAt = new Set(risky);
  return (
    <svg width={width} height={bottom + 36} aria-hidden="true">
      {axis.ticks.map(({ value, label }) => (
        <g key={label}>
          <line class="grid" x1={left} x2={width} y1={y(value)} y2={y(value)} />
          <text class="balances" x={left - 10} y={y(value) + 4}>
            {label}
          </text>
        </g>
      ))}
      {times.map(({ index, time, day }) => (
        <g key={index} transform={`translate(${left + index * slot} ${bottom})`}>
          <line
            class={day !== null && index > 0 ? 'day' : 'tick'}
            y1={day !== null && index > 0 ? -HEIGHT : 0}
            y2={4}
          />
          <text class={index === 0 ? 'time first' : 'time'} y={18}>
            {time}
          </text>
          {day !== null && (
            <text class={index === 0 ? 'time first' : 'time'} y={32}>
              {day}
            </text>
          )}
        </g>
      ))}
      <text class="time last" x={width} y={bottom + 18}>
        now
      </text>
      {today !== times.findLast(({ day }) => day !== null)?.day && (
        <text class="time last" x={width} y={bottom + 32}>
          {today}
        </text>
      )}
      <g transform={`translate(${left} 0)`}>
        {axis.from === 0 && <path class="fill" d={`${path}V${bottom}H0Z`} />}
        <path class="line" d={path} />
        {[...dots].map((index) => (
          <circle
            key={index}
            class={riskAt.has(index) ? 'dot risk' : 'dot'}
            cx={index * slot}
            cy={y(points[index]!.balance)}
            r={riskAt.has(index) ? 4 : 2.5}
          />
        ))}
        {pointed !== null && points[pointed] !== undefined && (
          <g class="pointed" transform={`translate(${pointed * slot} 0)`}>
            <rect y={TOP} width={Math.max(1, slot)} height={HEIGHT} />
            <circle cy={y(points[pointed].balance)} r={4} />
          </g>
        )}
      </g>
    </svg>
  );
}

interface Props {
  readonly live: LiveWorld;
  readonly onOpenPayout: (txnId: string) => void;
}

/**
 * The balance after each change. All changes have the same width, however much time passed between them, since a world's clock may stand
 * still or jump by days. Mouse, touch and arrow keys point at a change; a click or Enter opens its payout.
 */
export function BalanceChart({ live, onOpenPayout }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<number | null>(null);
  useEffect(() => {
    const element = box.current!;
    const resized = new ResizeObserver(() => setWidth(element.clientWidth));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);

  const isLoaded = live.balancesVersion.value > 0;
  const { points, before } = live.balances;
  const atRisk = live.requestsVersion.value > 0 ? live.requests.atRisk : new Map<string, never>();
  const last = points.length - 1;
  const axis = useMemo(() => {
    const balances = points.length === 0 ? [0] : points.map(({ balance }) => balance);
    return balanceAxis(Math.min(...balances), Math.max(...balances));
  }, [points]);
  const at = pointed === null ? null : Math.min(pointed, last);
  const open = (): void => {
    const txnId = at === null ? null : points[at]!.txnId;
    if (txnId !== null) onOpenPayout(txnId);
  };
  const point = ({ clientX }: PointerEvent): void => {
    const left = leftOf(axis);
    const index = Math.floor(
      ((clientX - box.current!.getBoundingClientRect().left - left) * points.length) / (width - left),
    );
    setPointed(Math.max(0, Math.min(index, last)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') return open();
    if (event.key === 'Escape') return setPointed(null);
    const from = at ?? last + 1;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setPointed(Math.max(0, Math.min(to, last)));
  };

  const isDrawn = isLoaded && last >= 0 && width > leftOf(axis);
  const range = isDrawn ? rangeText(points, before, axis.from === 0) : '';
  const text = at === null || !isDrawn ? range : changeText(points[at]!, points[at - 1]);
  return (
    <figure class="chart">
      <div
        ref={box}
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label="Balance after each change"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={at ?? Math.max(0, last)}
        aria-valuetext={text}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setPointed(null)}
        onBlur={() => setPointed(null)}
        onClick={open}
        onKeyDown={onKeyDown}
      >
        {isDrawn && (
          <Plot
            points={points}
            axis={axis}
            today={istShortDay(live.clock.value?.now ?? points[last]!.atMs)}
            width={width}
            pointed={at}
            atRisk={atRisk}
          />
        )}
      </div>
      <figcaption class="note" aria-hidden="true">
        {text}
      </figcaption>
    </figure>
  );
}
