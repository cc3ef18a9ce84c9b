import { istTime } from '../ui/formats.ts';
import { Button } from '../ui/button.tsx';
import type { LiveWorld } from '../store/live-world.ts';
import { worldNowMs } from '../store/world-time.ts';
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
          {nowMs !== null && `This is the world as of ${istTime(nowMs)} IST. `}The page goes on by itself.
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
