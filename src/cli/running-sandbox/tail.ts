import { setTimeout as pause } from 'node:timers/promises';
import { NoSandboxError, SandboxError } from '../../client/control-client.ts';
import type { WorldEvent } from '../../client/event-stream.ts';
import { istDate, istTime } from '../../contract/instant.ts';
import { rupees, signedRupees } from '../../contract/words.ts';
import type { Session } from '../../actions/sandbox-action.ts';
import { clockText } from '../../actions/clock-actions.ts';
import { requestCells } from '../../actions/journal-actions.ts';
import {
  atRiskText,
  cellOf,
  namedText,
  newDays,
  stateColour,
  visibleLine,
  jsonText,
} from '../../actions/text-output.ts';
import { complain, EXIT_OK, say } from '../output.ts';
import { untilStopped } from '../stop-signal.ts';

const AGAIN_MS = 500;

/** In place of the time, for events without one. */
const NO_TIME = ' '.repeat(12);

/** An event as a line, after one with the date if that is new; none when another event already says the same. */
function eventLines(
  event: WorldEvent,
  { paint }: Session,
  newDay: (at: string) => string | null,
): readonly string[] {
  const line = (at: string | null, kind: string, ...words: readonly string[]): readonly string[] => {
    const day = at === null ? null : newDay(at);
    const text = [paint(at === null ? NO_TIME : istTime(at), 'dim'), paint(kind.padEnd(8), 'bold'), ...words]
      .filter((word) => word !== '')
      .join('  ')
      .trimEnd();
    return day === null ? [text] : [paint(day, 'dim'), text];
  };
  switch (event.type) {
    case 'request': {
      const [route, ...cells] = requestCells(event.data).map((cell) => {
        const { text, colour } = cellOf(cell);
        return colour === undefined || text === '' ? text : paint(text, colour);
      });
      return line(event.data.at, route!, ...cells);
    }
    case 'settlement': {
      const { at, client_ref_id: reference, from, to, utr } = event.data;
      const became = from === to ? 'has its UTR' : paint(to, stateColour(to));
      return line(at, 'settled', visibleLine(reference), became, utr === null ? '' : `UTR ${utr}`);
    }
    case 'wallet': {
      const { entry, balance } = event.data;
      return line(entry.at, 'wallet', signedRupees(entry.amount), `balance ${rupees(balance)}`);
    }
    case 'at_risk':
      return line(null, 'at risk', atRiskText(event.data));
    case 'clock':
      return line(event.data.now, 'clock', clockText(event.data));
    case 'scenario': {
      const { scenario, rule } = event.data;
      return line(null, 'scenario', scenario, rule === undefined ? '' : `rule ${rule}`);
    }
    case 'held': {
      const { id, route, client_ref_id: reference, rule } = event.data;
      return line(null, 'held', `${route} ${visibleLine(reference ?? '')}`.trim(), `as ${id} by ${rule}`);
    }
    case 'released':
      return line(null, 'released', `request held as ${event.data.id}: ${event.data.how}`);
    case 'journal': {
      const { removed, as } = event.data;
      return line(null, 'journal', `requests ${as}: ${removed}`);
    }
    case 'reset':
      return line(event.data.now, 'reset', 'the world begins again');
    case 'restore': {
      const { now, undone } = event.data;
      if (undone !== undefined) return line(now, 'undo', `took back the last action: ${undone}`);
      return line(now, 'restore', 'the world continues from a snapshot');
    }
    case 'missed': {
      const { missed } = event.data;
      return line(null, 'missed', `${missed === null ? 'some' : missed} events are no longer available`);
    }
    case 'rule':
      return []; // the request's own line names the rule
  }
}

/** Whether the sandbox may come back: it is gone, or fails by itself. */
const isAway = (error: unknown): boolean =>
  error instanceof SandboxError
    ? error.status >= 500
    : error instanceof NoSandboxError || error instanceof TypeError;

/** `payout-sandbox tail`: prints what happens in a world from now on, and reconnects to a sandbox that restarts. */
export async function tail(
  session: Session,
  isJson: boolean,
  { say, note }: Readonly<Record<'say' | 'note', (line: string) => void>>,
  signal: AbortSignal,
): Promise<number> {
  const { world } = session;
  const { id, name, clock } = await world.summary(); // also fails at once for a wrong address or key
  const today = istDate(clock.now);
  const newDay = newDays(today);
  const following = `following world ${namedText(id, name)} at ${world.url}; it is ${today}, times in IST; Ctrl-C to stop`;
  const print = (event: WorldEvent): void =>
    (isJson ? [jsonText(event, 0)] : eventLines(event, session, newDay)).forEach(say);

  let after: string | undefined;
  let connected: string | null = following;
  while (!signal.aborted) {
    try {
      const events = await world.events({ signal, ...(after !== undefined && { after }) });
      after = events.from;
      if (connected !== null) note(connected); // only now: whoever reads this may send a request at once
      connected = null;
      for await (const event of events) {
        after = event.id;
        print(event);
      }
    } catch (error) {
      if (!signal.aborted && !isAway(error)) throw error;
    }
    if (signal.aborted) break;
    if (connected === null) note(`lost the connection to ${world.url}: waiting for it`);
    connected = `${world.url} is back`;
    await pause(AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
  return EXIT_OK;
}

/** Ends at Ctrl-C, and when its output is closed, as by `| head`. */
export function tailUntilSignal(session: Session, isJson: boolean): Promise<number> {
  const unread = new AbortController();
  process.stdout.once('error', () => unread.abort());
  return untilStopped((stop) =>
    tail(session, isJson, { say, note: complain }, AbortSignal.any([stop, unread.signal])),
  );
}
