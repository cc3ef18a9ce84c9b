import { useEffect, useRef } from 'preact/hooks';
import type { WorldReport } from '../../contract/conduct.ts';
import { counted, istDay, istTime, plural, rupees, utcMoment } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { chooseKey, chooseTheme, theme, THEMES } from '../live/session.ts';
import { useWorldNow } from '../live/world-time.ts';
import { OrderNote } from './order-note.tsx';

/** The sections in the order of the page. */
export const SECTIONS = {
  wallet: 'Wallet',
  conduct: 'Conduct',
  payouts: 'Transactions',
  requests: 'Requests',
  clock: 'Clock',
  try: 'Try it',
  scenario: 'Scenario',
  world: 'World',
} as const;
export type SectionName = keyof typeof SECTIONS;

/** Whether the page is live, in words. */
function Connection({ live }: { readonly live: LiveWorld }) {
  const connection = live.feed.connection.value;
  const words = {
    connecting: 'Connecting',
    live: 'Live',
    reconnecting: 'Reconnecting',
    gone: 'Disconnected',
    refused: 'Refused',
  }[connection.state];
  return (
    <span class={`connection ${connection.state}`} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="words">{words}</span>
    </span>
  );
}

/** A note that the page is out of date, and what to do. */
export function AwayNote({ live }: { readonly live: LiveWorld }) {
  const connection = live.feed.connection.value;
  const trouble = live.trouble.value;
  if (connection.state === 'gone') {
    return (
      <div class="away" role="alert">
        <span>
          <strong>The sandbox does not answer.</strong> This page shows what it last received. Start the
          sandbox (<code>npm start</code>), and the page reconnects.
        </span>
        <button type="button" class="button small" onClick={() => live.feed.retry()}>
          Try now
        </button>
      </div>
    );
  }
  const text =
    connection.state === 'refused' ? connection.message : connection.state === 'live' ? trouble : null;
  return text === null ? null : (
    <div class="away" role="alert">
      {text}
    </div>
  );
}

/** How many payouts were made although their client saw a failure; it leads to them. */
function RiskCounter({ live, onShow }: { readonly live: LiveWorld; readonly onShow: () => void }) {
  const count = live.requestsVersion.value === 0 ? 0 : live.requests.atRisk.size;
  if (count === 0) return null;
  return (
    <button
      type="button"
      class="risk-count"
      title={`${plural(count, 'payout was', 'payouts were')} made although the client saw a failure`}
      onClick={onShow}
    >
      {counted(count)} at risk
    </button>
  );
}

/** The tabs, on a narrow page scrolled to the current one. */
function Sections({ current, findings }: { readonly current: SectionName; readonly findings: number }) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = nav.current!.querySelector<HTMLElement>('[aria-current]');
    if (tab !== null)
      nav.current!.scrollLeft = tab.offsetLeft - (nav.current!.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  return (
    <nav aria-label="Sections" ref={nav}>
      {Object.entries(SECTIONS).map(([name, label]) => (
        <a key={name} href={`#${name}`} aria-current={name === current ? 'true' : undefined}>
          {label}
          {name === 'conduct' && findings > 0 && (
            <span class="tab-count" title={plural(findings, 'error or warning', 'errors and warnings')}>
              {counted(findings)}
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

interface Props {
  readonly live: LiveWorld;
  readonly current: SectionName;
  readonly report: WorldReport | null;
  readonly onShowRisk: () => void;
}

/** The bar at the top: key, connection, balance, time, and links to the sections. */
export function TopBar({ live, current, report, onShowRisk }: Props) {
  const nowMs = useWorldNow(live);
  const isFrozen = live.clock.value?.frozen === true;
  const wallet = live.wallet.value;
  const nextTheme = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  return (
    <header class="top">
      <div class="top-line">
        <h1>Payout sandbox</h1>
        <Connection live={live} />
        <span class="glance number balance">{wallet === null ? '' : rupees(wallet.balance)}</span>
        <span class="glance number" title={nowMs === null ? undefined : utcMoment(nowMs)}>
          {nowMs === null ? '' : `${istDay(nowMs)}, ${istTime(nowMs)} IST`}
          {isFrozen && ', frozen'}
        </span>
        <RiskCounter live={live} onShow={onShowRisk} />
        <span class="push" />
        <button
          type="button"
          class="button small key"
          onClick={() => chooseKey(null)}
          title="Show another world"
        >
          <span class="unseen">World of </span>
          <code>{live.world.apiKey}</code>
          <span class="unseen">: show another</span>
        </button>
        <button type="button" class="button small" onClick={() => chooseTheme(nextTheme)}>
          <span aria-hidden="true">◐</span>
          <span class="unseen">Theme:</span>
          <span class="theme-name"> {theme.value}</span>
        </button>
      </div>
      <Sections
        current={current}
        findings={report === null ? 0 : report.counts.error + report.counts.warning}
      />
      <OrderNote live={live} />
    </header>
  );
}
