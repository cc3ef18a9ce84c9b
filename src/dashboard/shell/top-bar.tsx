import { useEffect, useRef } from 'preact/hooks';
import type { LiveWorld } from '../store/live-world.ts';
import type { Mark } from '../store/payout-list.ts';
import { Button } from '../ui/button.tsx';
import { grouped, rupees } from '../../contract/words.ts';
import { istTime } from '../ui/formats.ts';
import { VIEWS, worldName, type ViewName } from './address.ts';
import { showPayouts } from './navigation.ts';
import { show } from './overlay.ts';
import { chooseKey } from './session.ts';
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
    <span class={`state is-${state === 'live' && !isLoading ? 'success' : 'pending'}`} role="status">
      <span class={css.words}>{isLoading ? 'Loading' : CONNECTION[state]}</span>
    </span>
  );
}

const UNTOLD = 'The money of these payouts is out, and no response has told whoever sent them';
const UNSEEN = 'Whoever sent these payouts has not seen their final state';

/** How many payouts nobody was told of, and their sum; and of how many an earlier state was seen last. Each leads to them. */
function MarkCounters({ live }: { readonly live: LiveWorld }) {
  const { at_risk: risk, out_of_date: old } = live.summary.value ?? {};
  const counter = (mark: Mark, count: number, title: string, text: string) =>
    count > 0 && (
      <button
        type="button"
        class={`pill ${css.mark} ${mark === 'at_risk' ? 'risk' : ''}`}
        title={title}
        onClick={() => showPayouts(mark)}
      >
        {`${grouped(count)} ${text}`}
      </button>
    );
  return (
    <>
      {counter('at_risk', risk?.count ?? 0, UNTOLD, `at risk · ${rupees(risk?.amount ?? 0)}`)}
      {counter('out_of_date', old?.count ?? 0, UNSEEN, 'out of date')}
    </>
  );
}

/** How many requests are held, and when the first of them expires; it leads to them. */
function HeldCounter({ live }: { readonly live: LiveWorld }) {
  const [first] = live.held.value;
  if (first === undefined) return null;
  return (
    <a class={`pill ${css.mark}`} href="#requests">
      {grouped(live.held.value.length)} held, until {istTime(first.until)} real time
    </a>
  );
}

/** The bar at the top: the world, the connection, the balance, and what is at risk. */
export function TopBar({ live }: { readonly live: LiveWorld }) {
  const wallet = live.wallet.value;
  const name = live.summary.value?.name ?? null;
  return (
    <div class={css.line}>
      <h1 data-world={name ?? worldName(live.summary.value?.id ?? '')}>
        <span class={css.brand}>Payout sandbox</span>
      </h1>
      <Connection live={live} />
      <span>
        <span class="unseen">Balance</span>
        {wallet === null ? '…' : rupees(wallet.balance)}
      </span>
      <MarkCounters live={live} />
      <HeldCounter live={live} />
      <button
        type="button"
        class={`button ${css.key}`}
        title="Show another world"
        onClick={() => chooseKey(null)}
      >
        <span class={css.world}>
          {name !== null && <span>{name} </span>}
          <code>{live.world.apiKey}</code>
        </span>
      </button>
      <Button isLocal title="Commands, in words (Ctrl+K)" act={() => show('palette')}>
        Commands <kbd aria-hidden="true">Ctrl K</kbd>
      </Button>
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
