import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LiveWorld } from '../store/live-world.ts';
import type { News } from '../store/news.ts';
import { worldNowMs } from '../store/world-time.ts';
import { Button } from '../ui/button.tsx';
import { istTime } from '../ui/formats.ts';

/** Says that the page is out of date, why, and since when. It stays in sight. */
export function AwayNote({ live }: { readonly live: LiveWorld }) {
  const connection = live.feed.connection.value;
  const nowMs = worldNowMs(live);
  const isGone = connection.state === 'gone';
  const said = 'message' in connection ? connection.message : null;
  const text = connection.state === 'live' ? live.trouble.value : said;
  if (!isGone && text === null) return null;
  return (
    <div class="notice" role="alert">
      <span>
        <strong>{text ?? 'The sandbox does not respond. If it was stopped, start it again'}.</strong>
        {isGone && nowMs !== null && ` This is the world as of ${istTime(nowMs)} IST.`}
        {isGone && ' The dashboard reconnects by itself.'}
      </span>
    </div>
  );
}

/** What was done, for some seconds, with what can be done about it. Nothing disappears that is pointed at or has the focus. */
export function Toasts({ news }: { readonly news: News }) {
  const cameFrom = useRef<HTMLElement | null>(null);
  const toasts = news.toasts.value;
  useLayoutEffect(() => {
    if (document.activeElement === document.body) cameFrom.current?.focus(); // the button that had it is gone
  }, [toasts]);
  const watch = ({ currentTarget }: { readonly currentTarget: HTMLElement }): void =>
    void (news.isWatched = currentTarget.matches(':hover, :focus-within'));
  return (
    <div
      class="toasts"
      role="status"
      aria-label="What happened"
      onPointerEnter={watch}
      onPointerLeave={watch}
      onFocusIn={(event) => {
        const from = event.relatedTarget as HTMLElement | null;
        if (!event.currentTarget.contains(from)) cameFrom.current = from;
        watch(event);
      }}
      onFocusOut={(event) => {
        const to = event.relatedTarget as HTMLElement | null;
        if (to !== null && !event.currentTarget.contains(to)) cameFrom.current = null;
        watch(event);
      }}
    >
      {toasts.map((toast) => (
        <div key={toast.text} class="toast">
          <span>{toast.text}</span>
          {toast.offer !== undefined && toast === news.newest && (
            <Button
              kind="small"
              act={() => {
                news.hide(toast);
                toast.offer!.act();
              }}
            >
              {toast.offer.label}
            </Button>
          )}
          <Button kind="small" isLocal label="Dismiss" act={() => news.hide(toast)}>
            ×
          </Button>
        </div>
      ))}
    </div>
  );
}
