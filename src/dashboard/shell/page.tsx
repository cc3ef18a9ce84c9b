import { useEffect, useState } from 'preact/hooks';
import { ConductView } from '../conduct/conduct-view.tsx';
import { ActionBar } from '../actions/action-bar.tsx';
import { PayDrawer } from '../actions/pay-drawer.tsx';
import { Overview } from '../overview/overview.tsx';
import { Palette } from '../palette/palette.tsx';
import { PayoutsView } from '../payouts/payouts-view.tsx';
import { RequestsView } from '../requests/requests-view.tsx';
import { ScenarioView } from '../scenario/scenario-view.tsx';
import { grouped } from '../../contract/words.ts';
import { CurrentWorld } from '../store/current-world.ts';
import { LiveWorld } from '../store/live-world.ts';
import { WorldView } from '../world/world-view.tsx';
import { worldName } from './address.ts';
import { address, amend } from './navigation.ts';
import { AwayNote, Toasts } from './notices.tsx';
import { overlay } from './overlay.ts';
import { apiKey, nameWorld, wantedWorld } from './session.ts';
import { ShortcutSheet, useShortcuts } from './shortcuts.tsx';
import { SignIn } from './sign-in.tsx';
import { TopBar, ViewLinks } from './top-bar.tsx';
import css from './shell.module.css';

const UNAUTHORIZED = 401;

const VIEW_OF = {
  overview: Overview,
  payouts: PayoutsView,
  requests: RequestsView,
  conduct: ConductView,
  scenario: ScenarioView,
  world: WorldView,
} as const;

/** The URL of the sandbox, which is the parent of the page, also below a path of a proxy. */
const sandboxUrl = (): string => new URL('..', location.href.split('#')[0]).href.replace(/\/$/, '');

function WorldPage({ live }: { readonly live: LiveWorld }) {
  const { id, at_risk: risk, name } = live.summary.value ?? {};
  useEffect(() => (id === undefined ? undefined : nameWorld(id)), [id]);
  useEffect(() => {
    const { rows, before } = live.payouts;
    const isGone = before.value === 0 && rows.value.every((row) => row.txn_id !== address.value.payout);
    if (live.readings.value > 1 && isGone) amend({ payout: null }); // the world was reset
  }, [live.readings.value]);
  const world = name ?? worldName(id ?? '');
  useEffect(() => {
    const parts = [risk && risk.count > 0 && `${grouped(risk.count)} at risk`, world, 'Payout sandbox'];
    document.title = parts.filter(Boolean).join(' · ');
  }, [risk?.count, world]);
  useShortcuts(live);
  // what opened this world is gone, such as the sign-in or a button of another world
  useEffect(() => {
    if (document.activeElement === document.body) document.querySelector('main')?.focus();
  }, []);
  const view = address.value.view ?? 'overview';
  const View = VIEW_OF[view];
  return (
    <CurrentWorld.Provider value={live}>
      <div
        class={css.page}
        data-view={view}
        data-connection={live.feed.connection.value.state}
        data-loaded={live.isLoaded.value ? '' : undefined}
        data-away={live.away.value !== null && live.isLoaded.value ? '' : undefined}
      >
        <header class={css.top}>
          <TopBar live={live} />
          <AwayNote live={live} />
          <ActionBar />
        </header>
        <ViewLinks current={view} />
        <main class={css.main} tabIndex={-1}>
          <View />
        </main>
        {overlay.value === 'pay' && <PayDrawer />}
        {overlay.value === 'palette' && <Palette />}
        {overlay.value === 'keys' && <ShortcutSheet />}
        <Toasts news={live.news} />
        <p class="unseen" aria-live="polite" data-testid="news">
          {live.news.said.value}
        </p>
      </div>
    </CurrentWorld.Provider>
  );
}

/** The world of one key, or the sign-in if the key is not accepted. */
function KeyedPage({ apiKey: key }: { readonly apiKey: string }) {
  const [live, setLive] = useState<LiveWorld | null>(null);
  useEffect(() => {
    const opened = new LiveWorld(sandboxUrl(), key);
    setLive(opened);
    return () => opened.close();
  }, [key]);
  if (live === null) return null;
  const connection = live.feed.connection.value;
  return connection.state === 'refused' && connection.status === UNAUTHORIZED ? (
    <SignIn
      url={sandboxUrl()}
      wanted={null}
      given={key}
      refusal="The sandbox does not accept this key. Keys begin with sk_test_, unless the server has a list of its own."
    />
  ) : (
    <WorldPage live={live} />
  );
}

export function Page() {
  const key = apiKey.value;
  const wanted = wantedWorld.value;
  if (wanted !== null || key === null) return <SignIn key={wanted} url={sandboxUrl()} wanted={wanted} />;
  return <KeyedPage key={key} apiKey={key} />;
}
