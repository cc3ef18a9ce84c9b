import { useEffect, useMemo, useState } from 'preact/hooks';
import { FindingList } from '../conduct/finding-list.tsx';
import { openRequest } from '../shell/navigation.ts';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { Choice } from '../ui/choice.tsx';
import { counted, istMoment, plural } from '../ui/formats.ts';
import { Foreign, Moment } from '../ui/marks.tsx';
import { beatsOf, type Beat } from './replay-beats.ts';
import css from './replay.module.css';

const SPEEDS = [1, 10, 100, 1000] as const;
/** No pause is shorter, so that each beat can be seen, and none is longer, so that nobody waits for a night. */
const LEAST_MS = 40;
const MOST_MS = 4000;
const SHOWN = 12;

function useBeats(live: LiveWorld): readonly Beat[] {
  const requests = live.requests.rows.value;
  const payouts = live.payouts.rows.value;
  const found = live.findings.value.all;
  return useMemo(() => {
    const serious = found.filter(({ finding }) => finding.severity !== 'notice');
    return beatsOf(requests, payouts, serious);
  }, [requests, payouts, found]);
}

/** Plays what happened in this world, in its own time or faster, and stops at each error and warning of the referee. */
export function Replay() {
  const live = useLive();
  const [chosen, setPlace] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<number>(100);
  const beats = useBeats(live);
  const place = Math.min(chosen, beats.length); // there may be fewer now, as after a reset
  const last = beats[place - 1];
  const next = beats[place];
  const found = last?.findings ?? [];
  useEffect(() => {
    if (!isPlaying) return;
    if (next === undefined) return setPlaying(false);
    const gapMs = last === undefined ? 0 : (next.atMs - last.atMs) / speed;
    const timer = setTimeout(
      () => {
        setPlace(place + 1);
        if (next.findings.length > 0) setPlaying(false);
      },
      Math.min(MOST_MS, Math.max(LEAST_MS, gapMs)),
    );
    return () => clearTimeout(timer);
  }, [isPlaying, place, speed, next, last]);
  const play = (): void => {
    if (next === undefined) setPlace(0);
    setPlaying(!isPlaying);
  };
  return (
    <div class="block" role="group" aria-label="Replay">
      <h3>Replay</h3>
      <p class="note">
        Plays the newest requests of this world and what became of their payouts, and stops at each error and
        warning. To replay a saved day, choose its file: it opens as a world of its own.
      </p>
      <div class="buttons">
        <Button isLocal off={beats.length === 0 ? 'Nothing has happened yet' : null} act={play}>
          {isPlaying ? 'Pause' : next === undefined && place > 0 ? 'Play again' : 'Play'}
        </Button>
        <label class="field inline">
          <span>Speed</span>
          <Choice
            value={String(speed)}
            options={SPEEDS.map((one) => [String(one), `${one}×`])}
            onChoose={(one) => setSpeed(Number(one))}
          />
        </label>
        <input
          type="range"
          class={css.place}
          aria-label="Place in the replay"
          min={0}
          max={beats.length}
          value={place}
          onInput={(event) => {
            setPlaying(false);
            setPlace(Number(event.currentTarget.value));
          }}
        />
        <span class="note number">
          {counted(place)} of {counted(beats.length)}
        </span>
      </div>
      {last !== undefined && (
        <p class={css.now} role="status">
          {istMoment(last.atMs)} ·{' '}
          <span class={last.atRisk > 0 ? 'pill risk' : 'dim'}>{plural(last.atRisk, 'payout')} at risk</span>
        </p>
      )}
      {found.length > 0 && (
        <div role="alert">
          <p>
            <strong>Here:</strong>
          </p>
          <FindingList found={found} />
        </div>
      )}
      <ol class={css.beats} aria-label="What happened">
        {beats
          .slice(Math.max(0, place - SHOWN), place)
          .toReversed()
          .map((beat, nth) => (
            <li key={place - nth} data-found={beat.findings.length > 0 ? '' : undefined}>
              <span class="dim">
                <Moment at={beat.atMs} isShort />
              </span>{' '}
              {beat.request === null ? (
                <Foreign text={beat.text} />
              ) : (
                <Button kind="link" isLocal act={() => openRequest(beat.request)}>
                  <Foreign text={beat.text} />
                </Button>
              )}
            </li>
          ))}
      </ol>
    </div>
  );
}
