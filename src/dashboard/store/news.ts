import { signal } from '@preact/signals';
import type { WorldEvent } from '../../client/event-stream.ts';
import { counted, rupees } from '../../contract/words.ts';
import { istMoment } from '../ui/formats.ts';
import { Together } from './together.ts';

/** The shortest time between two announcements to a screen reader: a burst becomes one announcement. */
const SAY_EVERY_MS = 1500;
const SHOWN_MS = 10_000;
const MOST_SHOWN = 3;
const OWN_MS = 1500;

export interface Toast {
  readonly text: string;
  /** What its button does. */
  readonly offer?: { readonly label: string; readonly act: () => void } | undefined;
}

type EventType = WorldEvent['type'];

/** The events after which the world, or its journal, may be another one. */
export const REPLACING: ReadonlySet<EventType> = new Set(['journal', 'reset', 'restore', 'missed']);

/** What only a screen reader announces of events of one type: the dashboard shows it elsewhere. */
const spoken = (events: readonly WorldEvent[]): string | null => {
  const { length: count } = events;
  const last = events.at(-1)!;
  switch (last.type) {
    case 'settlement':
      if (count > 1) return `${counted(count, 'payout step')} happened`;
      return `${last.data.client_ref_id} is ${last.data.to}`;
    case 'at_risk':
      return `${counted(last.data.count, 'payout')} at risk, ${rupees(last.data.amount)}`;
    case 'held':
      return count === 1 ? 'A request is held' : `${counted(count, 'request')} are held`;
    default:
      return null;
  }
};

/** What another client did to the world, in words. */
const doneElsewhere = (event: WorldEvent): string | null => {
  switch (event.type) {
    case 'journal':
      return event.data.as === 'cleared'
        ? 'Another client cleared the requests.'
        : 'The sandbox needed memory and removed the requests of this world.';
    case 'reset':
      return 'The world was reset by another client.';
    case 'restore':
      return event.data.undone === undefined
        ? 'Another client loaded a snapshot.'
        : `Another client took the last action back: ${event.data.undone}.`;
    case 'scenario':
      return 'Another client changed the scenario or its rules.';
    case 'clock':
      return `Another client moved the clock to ${istMoment(event.data.now)}.`;
    case 'wallet':
      return `Another client changed the balance to ${rupees(event.data.balance)}.`;
    default:
      return null;
  }
};

/** What happens in the world, in words: shown for some seconds, or told to screen readers. */
export class News {
  readonly said = signal('');
  /** The newest last. */
  readonly toasts = signal<readonly Toast[]>([]);
  /** The only one whose offer still stands: an undo takes back whatever was done last. It stays when it is hidden. */
  newest: Toast | null = null;
  /** Whether somebody points at the messages, or has the focus in them. */
  isWatched = false;
  /** How often the world was replaced, by this page or by another client: what it refused before may be right now. */
  readonly replaced = signal(0);
  #waiting: string[] = [];
  readonly #saying = new Together(async () => this.#say(), SAY_EVERY_MS);
  /** The events that actions of this page cause, and how many such actions are under way. */
  readonly #own = new Map<EventType, number>();

  show(toast: Toast): void {
    const others = this.toasts.value.filter(({ text }) => text !== toast.text);
    this.newest = toast;
    this.toasts.value = [...others, toast].slice(-MOST_SHOWN);
    this.#hideLater(toast);
  }

  #hideLater(toast: Toast): void {
    setTimeout(() => (this.isWatched ? this.#hideLater(toast) : this.hide(toast)), SHOWN_MS);
  }

  hide(toast: Toast): void {
    this.toasts.value = this.toasts.value.filter((one) => one !== toast);
  }

  /** An action of this page begins that causes such events. @returns to be called when it has ended */
  expect(types: readonly EventType[]): () => void {
    const count = (by: number): void => {
      for (const type of types) this.#own.set(type, (this.#own.get(type) ?? 0) + by);
    };
    count(1);
    return () => void setTimeout(() => count(-1), OWN_MS); // its events may come later than its response
  }

  takeEvents(events: readonly WorldEvent[]): void {
    for (const type of new Set(events.map((event) => event.type))) {
      const sentence = spoken(events.filter((event) => event.type === type));
      if (sentence !== null) this.#waiting.push(sentence);
    }
    if (this.#waiting.length > 0) this.#saying.order();
    const isRestarted = events.some(({ type }) => type === 'missed'); // then nobody has loaded what the sandbox restored
    for (const event of events) {
      const text = isRestarted && event.type === 'restore' ? null : doneElsewhere(event);
      if (text === null || this.#own.get(event.type)) continue;
      this.show({ text });
      if (REPLACING.has(event.type)) this.replaced.value += 1;
    }
  }

  /** Events were missed, so the world was read again. @param gone how many payouts it no longer has */
  takeMissed(gone: number): void {
    const text =
      gone > 0
        ? `The world was reset or replaced: ${counted(gone, 'payout')} of it ${gone === 1 ? 'is' : 'are'} gone.`
        : 'The world was read again: it was replaced, or too much happened while the dashboard was disconnected.';
    this.show({ text });
    this.replaced.value += 1;
  }

  #say(): void {
    this.said.value = this.#waiting.splice(0).slice(-3).join('. ');
  }
}
