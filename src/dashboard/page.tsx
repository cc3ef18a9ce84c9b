import { useEffect, useState } from 'preact/hooks';
import { address, amend, go } from './live/navigation.ts';
import type { Address } from './live/address.ts';
import { ClockSection } from './sections/clock-section.tsx';
import { ConductSection } from './sections/conduct-section.tsx';
import { useConductReport } from './live/conduct-report.ts';
import { LiveWorld } from './live/live-world.ts';
import { PayoutsSection } from './sections/payouts-section.tsx';
import { RequestsSection } from './sections/requests-section.tsx';
import { ScenarioSection } from './sections/scenario-section.tsx';
import { KeyQuestion } from './keys/key-question.tsx';
import { apiKey, nameWorld, wantedWorld } from './live/session.ts';
import { SignIn } from './keys/sign-in.tsx';
import { UnlockWorld } from './keys/unlock-world.tsx';
import { AwayNote, SECTIONS, TopBar, type SectionName } from './header/top-bar.tsx';
import { TrySection } from './sections/try-section.tsx';
import { WalletSection } from './sections/wallet-section.tsx';
import { WorldSection } from './world/world-section.tsx';

const UNAUTHORIZED = 401;

/** The URL of the sandbox, which is the parent of the page, also below a path of a proxy. */
const sandboxUrl = (): string => new URL('..', location.href.split('#')[0]).href.replace(/\/$/, '');

/** The section that the address names; on a phone, the only one that is shown. */
const currentSection = (): SectionName =>
  (Object.keys(SECTIONS) as SectionName[]).find((name) => name === address.value.section) ?? 'wallet';

const scrollTo = (section: string): void => document.getElementById(section)?.scrollIntoView();

function WorldPage({ live }: { readonly live: LiveWorld }) {
  const section = currentSection();
  const { payout, request } = address.value;
  const report = useConductReport(live);
  const id = live.summary.value?.id;
  useEffect(() => (id === undefined ? undefined : nameWorld(id)), [id]);
  useEffect(() => {
    if (address.value.section !== null) scrollTo(section);
  }, []);
  const visit = (to: Partial<Address> & { section: SectionName }): void => {
    go(to);
    requestAnimationFrame(() => scrollTo(to.section)); // a phone shows it only then
  };
  const openPayout = (txnId: string): void => visit({ section: 'payouts', payout: txnId });
  const showRisk = (): void => visit({ section: 'payouts', payouts: { state: 'at-risk' } });
  const openRequest = (opened: number): void => visit({ section: 'requests', request: opened });
  return (
    <div class="page" data-section={section} data-loaded={live.isLoaded.value ? '' : undefined}>
      <TopBar live={live} current={section} report={report} onShowRisk={showRisk} />
      <AwayNote live={live} />
      <main
        onFocusIn={({ target }) => {
          const within = (target as Element).closest('section')?.id;
          if (within !== undefined && within !== section) amend({ section: within });
        }}
      >
        <div class="column">
          <WalletSection live={live} onOpenPayout={openPayout} />
          <ConductSection report={report} onOpenRequest={openRequest} />
          <PayoutsSection
            live={live}
            opened={payout}
            onOpen={(opened) => go({ section: 'payouts', payout: opened })}
            onOpenRequest={openRequest}
          />
          <RequestsSection
            live={live}
            opened={request}
            onOpen={(opened) => go({ section: 'requests', request: opened })}
            onOpenPayout={openPayout}
          />
        </div>
        <div class="column side">
          <ClockSection live={live} onOpenPayout={openPayout} />
          <TrySection live={live} />
          <ScenarioSection live={live} />
          <WorldSection live={live} />
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
  if (wantedWorld.value !== null) return <UnlockWorld name={wantedWorld.value} url={sandboxUrl()} />;
  if (key === null) return <SignIn given={null} refusal={null} />;
  return (
    <>
      <KeyQuestion kept={key} />
      <KeyedPage key={key} apiKey={key} />
    </>
  );
}
