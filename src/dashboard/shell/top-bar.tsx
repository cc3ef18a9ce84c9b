import { useEffect, useRef } from 'preact/hooks';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { counted, grouped, rupees } from '../../contract/words.ts';
import { Skeleton } from '../ui/marks.tsx';
import { VIEWS, type ViewName } from './address.ts';
import { showRisk } from './navigation.ts';
import { show } from './overlay.ts';
import { chooseKey, chooseTheme, theme, THEMES } from './session.ts';
import css from './shell.module.css';

const CONNECTION = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  gone: 'Disconnected',
  refused: 'Refused',
} as const;

/** Whether the page is up to date, in words. */
function Connection({ live }: { readonly live: LiveWorld }) {
  const { state } = live.feed.connection.value;
  const isLoading = state === 'live' && !live.isLoaded.value;
  return (
    <span class={css.connection} data-state={isLoading ? 'connecting' : state} role="status">
      <span class={css.dot} aria-hidden="true" />
      <span class={css.words}>{isLoading ? 'Loading' : CONNECTION[state]}</span>
    </span>
  );
}

/** How many payouts their client was not told of, and their sum; it leads to them. */
function RiskCounter({ live }: { readonly live: LiveWorld }) {
  const { count, amount } = live.summary.value?.at_risk ?? { count: 0, amount: 0 };
  if (count === 0) return null;
  return (
    <button
      type="button"
      class={`pill risk ${css.risk}`}
      title={`${counted(count, 'payout was', 'payouts were')} made, and no response has told the client`}
      onClick={showRisk}
    >
      {grouped(count)} at risk · {rupees(amount)}
    </button>
  );
}

/** The bar at the top: the world, the connection, the balance, and what is at risk. */
export function TopBar({ live }: { readonly live: LiveWorld }) {
  const wallet = live.wallet.value;
  const name = live.summary.value?.name ?? null;
  const nextTheme = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  return (
    <div class={css.line}>
      <h1>
        <span class={css.brand}>Payout sandbox</span>
      </h1>
      <Connection live={live} />
      <span class={css.balance}>
        <span class="unseen">Balance</span>
        {wallet === null ? <Skeleton width={12} /> : rupees(wallet.balance)}
      </span>
      <RiskCounter live={live} />
      <span class={css.push} />
      <button type="button" class="button plain" title="Show another world" onClick={() => chooseKey(null)}>
        <span class={css.world}>
          {name !== null && <span>{name} </span>}
          <code>{live.world.apiKey}</code>
        </span>
      </button>
      <Button isLocal title="Commands, in words (Ctrl+K)" act={() => show('palette')}>
        Commands <kbd aria-hidden="true">Ctrl K</kbd>
      </Button>
      <span class={css.theme}>
        <Button isLocal title={`Theme: ${theme.value}`} act={() => chooseTheme(nextTheme)}>
          <span aria-hidden="true">◐</span>
          <span class="unseen">Theme: {theme.value}</span>
        </Button>
      </span>
    </div>
  );
}

/** The links to the views: a rail beside them, or tabs above them. */
export function ViewLinks({ current }: { readonly current: ViewName }) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = nav.current!.querySelector<HTMLElement>('[aria-current]')!;
    nav.current!.scrollLeft = tab.offsetLeft - (nav.current!.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  return (
    <nav aria-label="Views" class={css.rail} ref={nav}>
      {Object.entries(VIEWS).map(([name, label]) => (
        <a key={name} href={`#${name}`} aria-current={name === current ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
