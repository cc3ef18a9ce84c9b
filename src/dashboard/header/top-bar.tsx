import { istTime, rupees } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { chooseKey, chooseTheme, theme, THEMES } from '../live/session.ts';
import { useWorldNow } from '../live/world-time.ts';

export const SECTIONS = {
  wallet: 'Wallet',
  payouts: 'Transactions',
  requests: 'Requests',
  clock: 'Clock',
  scenario: 'Scenario',
  try: 'Try it',
  conduct: 'Conduct',
} as const;
export type SectionName = keyof typeof SECTIONS;

/** Whether the page is live, in words. */
function Connection({ live }: { readonly live: LiveWorld }) {
  const connection = live.feed.connection.value;
  const words = { connecting: 'Connecting', live: 'Live', gone: 'Disconnected', refused: 'Refused' }[
    connection.state
  ];
  return (
    <span class={`connection ${connection.state}`} role="status">
      <span class="dot" aria-hidden="true" />
      {words}
    </span>
  );
}

/** Says that the page is out of date, and what to do. */
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

interface Props {
  readonly live: LiveWorld;
  readonly current: SectionName;
}

/** The bar at the top: key, connection, balance, time, and links to the sections. */
export function TopBar({ live, current }: Props) {
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
        <span class="glance number">
          {nowMs === null ? '' : `${istTime(nowMs)} IST`}
          {isFrozen && ', frozen'}
        </span>
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
      <nav aria-label="Sections">
        {Object.entries(SECTIONS).map(([name, label]) => (
          <a key={name} href={`#${name}`} aria-current={name === current ? 'true' : undefined}>
            {label}
          </a>
        ))}
      </nav>
    </header>
  );
}
