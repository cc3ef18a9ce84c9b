import { useEffect, useState } from 'preact/hooks';
import { ClockSection } from './sections/clock-section.tsx';
import { ConductSection } from './sections/conduct-section.tsx';
import { LiveWorld } from './live/live-world.ts';
import { PayoutsSection } from './sections/payouts-section.tsx';
import { RequestsSection } from './sections/requests-section.tsx';
import { ScenarioSection } from './sections/scenario-section.tsx';
import { KeyQuestion } from './sections/key-question.tsx';
import { apiKey } from './live/session.ts';
import { SignIn } from './sections/sign-in.tsx';
import { AwayNote, SECTIONS, TopBar, type SectionName } from './sections/top-bar.tsx';
import { TrySection } from './sections/try-section.tsx';
import { WalletSection } from './sections/wallet-section.tsx';

const UNAUTHORIZED = 401;

/** The URL of the sandbox, which is the parent of the page, also below a path of a proxy. */
const sandboxUrl = (): string => new URL('..', location.href.split('#')[0]).href.replace(/\/$/, '');

const sectionOfAddress = (): SectionName | undefined =>
  (Object.keys(SECTIONS) as SectionName[]).find((name) => location.hash === `#${name}`);

/** The section that the URL names; on a phone, the only one that is shown. */
function useSection(): [SectionName, (name: SectionName) => void, (name: SectionName) => void] {
  const [section, setSection] = useState<SectionName>(sectionOfAddress() ?? 'wallet');
  useEffect(() => {
    const follow = (): void => setSection((was) => sectionOfAddress() ?? was);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const go = (name: SectionName): void => {
    if (sectionOfAddress() === name) document.getElementById(name)?.scrollIntoView();
    else location.hash = name;
  };
  return [section, go, setSection];
}

function WorldPage({ live }: { readonly live: LiveWorld }) {
  const [section, go, setSection] = useSection();
  const [payout, setPayout] = useState<string | null>(null);
  const [request, setRequest] = useState<number | null>(null);
  const openPayout = (txnId: string): void => {
    setPayout(txnId);
    go('payouts');
  };
  const openRequest = (id: number): void => {
    setRequest(id);
    go('requests');
  };
  return (
    <div class="page" data-section={section}>
      <TopBar live={live} current={section} />
      <AwayNote live={live} />
      <main
        onFocusIn={({ target }) => {
          const within = (target as Element).closest('section')?.id;
          if (within !== undefined) setSection(within as SectionName);
        }}
      >
        <div class="column">
          <WalletSection live={live} />
          <PayoutsSection live={live} opened={payout} onOpen={setPayout} onOpenRequest={openRequest} />
          <RequestsSection live={live} opened={request} onOpen={setRequest} onOpenPayout={openPayout} />
        </div>
        <div class="column">
          <ClockSection live={live} onOpenPayout={openPayout} />
          <TrySection live={live} />
          <ScenarioSection live={live} />
          <ConductSection live={live} onOpenRequest={openRequest} />
        </div>
      </main>
      <p class="unseen" aria-live="polite" data-testid="news">
        {live.news.said.value}
      </p>
    </div>
  );
}

/** The world of one key, or the sign-in if the key is not accepted. */
function KeyedPage({ apiKey }: { readonly apiKey: string }) {
  const [live, setLive] = useState<LiveWorld | null>(null);
  useEffect(() => {
    const opened = new LiveWorld(sandboxUrl(), apiKey);
    setLive(opened);
    return () => opened.close();
  }, [apiKey]);
  if (live === null) return null;
  const connection = live.feed.connection.value;
  return connection.state === 'refused' && connection.status === UNAUTHORIZED ? (
    <SignIn given={apiKey} refusal={connection.message} />
  ) : (
    <WorldPage live={live} />
  );
}

/** The whole page. */
export function Page() {
  const key = apiKey.value;
  if (key === null) return <SignIn given={null} refusal={null} />;
  return (
    <>
      <KeyQuestion kept={key} />
      <KeyedPage key={key} apiKey={key} />
    </>
  );
}
