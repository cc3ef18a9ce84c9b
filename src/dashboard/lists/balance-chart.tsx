import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { IST, istMoment, istShortDay, istTime, rupees, shortRupees } from './formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { theme } from '../live/session.ts';
import { worldNowMs } from '../live/world-time.ts';

const HEIGHT = 190;
const DAY_S = 86_400;
const REDRAW_MS = 1000;

const colorOf = (element: Element, name: string): string => {
  const probe = element.querySelector(`.ink-${name}`)!;
  return getComputedStyle(probe).color;
};

/** Times of day, with the date where it changes. */
function axisTimes(_plot: uPlot, seconds: number[], _axis: number, _space: number, step: number): string[] {
  let shown = '';
  return seconds.map((at) => {
    const day = istShortDay(at * 1000);
    if (step >= DAY_S) return day;
    const isSame = day === shown;
    shown = day;
    const time = istTime(at * 1000).slice(0, step < 60 ? 8 : 5);
    return isSame ? time : `${time}\n${day}`;
  });
}

function optionsFor(element: HTMLElement): uPlot.Options {
  const line = colorOf(element, 'line');
  const axis = {
    stroke: colorOf(element, 'text'),
    grid: { stroke: colorOf(element, 'grid'), width: 1 },
    ticks: { show: false },
  };
  const font = '11px system-ui, sans-serif';
  return {
    width: element.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), IST),
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false } },
    padding: [10, 8, 0, 0],
    scales: {
      y: {
        range: (_plot, min, max) =>
          min === max ? [min * 0.9, max * 1.1 + 1] : uPlot.rangeNum(min, max, 0.15, true),
      },
    },
    axes: [
      { ...axis, font, size: 40, space: 70, grid: { show: false }, values: axisTimes },
      { ...axis, font, size: 64, values: (_plot, values) => values.map(shortRupees) },
    ],
    series: [
      {},
      {
        label: 'Balance',
        stroke: line,
        fill: colorOf(element, 'fill'),
        width: 1.75,
        points: { show: false },
        paths: uPlot.paths.stepped!({ align: 1 }),
      },
    ],
  };
}

/** The balance over world time, with a step at each ledger entry. */
export function BalanceChart({ live }: { readonly live: LiveWorld }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const readout = useRef<HTMLParagraphElement>(null);
  const version = live.balancesVersion.value;
  const chosen = theme.value;
  const { points } = live.balances;

  const draw = (): void => {
    const nowMs = worldNowMs(live);
    const known = live.balances.points;
    const last = known.at(-1);
    const end = last === undefined || nowMs === null || nowMs <= last.atMs ? [] : [{ ...last, atMs: nowMs }];
    const all = [...known, ...end];
    plot.current?.setData([all.map(({ atMs }) => atMs / 1000), all.map(({ balance }) => balance)]);
  };

  useEffect(() => {
    const element = box.current!;
    const make = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(
        {
          ...optionsFor(element),
          hooks: {
            setCursor: [
              ({ cursor: { idx }, data }) => {
                const [at, balance] = typeof idx === 'number' ? [data[0][idx], data[1]![idx]] : [];
                readout.current!.textContent =
                  at === undefined || balance == null ? '' : `${rupees(balance)} at ${istMoment(at * 1000)}`;
              },
            ],
          },
        },
        [[], []],
        element,
      );
      draw();
    };
    make();
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', make);
    const timer = setInterval(draw, REDRAW_MS);
    return () => {
      clearInterval(timer);
      resized.disconnect();
      dark.removeEventListener('change', make);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [live, chosen]);
  useEffect(draw, [version]);

  const last = points.at(-1);
  const lowest = points.reduce((least, { balance }) => Math.min(least, balance), Infinity);
  const label =
    last === undefined
      ? 'No balance loaded yet'
      : `The balance over world time: ${rupees(last.balance)} now, ${rupees(lowest)} at its lowest, ${points.length - 1} changes shown`;
  return (
    <figure class="chart">
      <div ref={box} role="img" aria-label={label}>
        <span class="ink-line" />
        <span class="ink-fill" />
        <span class="ink-text" />
        <span class="ink-grid" />
      </div>
      <p class="readout" ref={readout} aria-hidden="true" />
    </figure>
  );
}
