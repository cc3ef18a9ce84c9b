import type { LiveWorld } from '../store/live-world.ts';
import type { News } from '../store/news.ts';
import { worldNowMs } from '../store/world-time.ts';
import { Button } from '../ui/button.tsx';
import { istTime } from '../ui/formats.ts';
import css from './shell.module.css';

/** Says that the page is out of date, why, and since when. It stays in sight. */
export function AwayNote({ live }: { readonly live: LiveWorld }) {
  const connection = live.feed.connection.value;
  const trouble = live.trouble.value;
  const nowMs = worldNowMs(live);
  if (connection.state === 'gone') {
    return (
      <div class={css.away} role="alert">
        <span>
          {connection.message === null ? (
            <>
              <strong>The sandbox does not respond.</strong> If it was stopped, start it with{' '}
              <code>npm start</code>.
            </>
          ) : (
            <strong>{connection.message}.</strong>
          )}{' '}
          {nowMs !== null && `This is the world as of ${istTime(nowMs)} IST. `}The dashboard reconnects by
          itself.
        </span>
        <Button kind="small" isLocal act={() => live.feed.retry()}>
          Try now
        </Button>
      </div>
    );
  }
  const text =
    connection.state === 'refused' ? connection.message : connection.state === 'live' ? trouble : null;
  return text === null ? null : (
    <div class={css.away} role="alert">
      {text}
    </div>
  );
}

/** What was done, for some seconds, with what can be done about it. */
export const Toasts = ({ news }: { readonly news: News }) => (
  <div class="toasts" role="status" aria-label="What happened">
    {news.toasts.value.map((toast) => (
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
