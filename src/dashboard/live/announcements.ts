import { signal } from '@preact/signals';
import type { WorldEvent } from '../../client/event-stream.ts';
import { plural, rupees } from '../lists/formats.ts';

/** The shortest time between two announcements to a screen reader: a burst becomes one announcement. */
const SAY_EVERY_MS = 1500;

const sentenceOf = (type: WorldEvent['type'], events: readonly WorldEvent[]): string | null => {
  const one = events.length === 1 ? events[0]! : null;
  switch (type) {
    case 'settlement':
      if (one?.type === 'settlement') return `${one.data.client_ref_id} is ${one.data.to}`;
      return `${plural(events.length, 'payout step')} happened`;
    case 'request':
      if (one?.type === 'request' && one.data.outcome === 'pending') return 'A request is hanging';
      return null; // reading out each request would be too much
    case 'wallet':
      return one?.type === 'wallet' ? `The balance is ${rupees(one.data.balance)}` : null;
    case 'held':
      return events.length === 1 ? 'A request is held' : `${plural(events.length, 'request')} are held`;
    case 'reset':
      return 'The world was reset';
    case 'restore':
      return 'A snapshot was restored';
    case 'scenario':
      return 'The scenario or its rules have changed';
    case 'released':
    case 'clock':
    case 'rule':
    case 'missed':
      return null;
  }
};

/** What happens in the world, in words, for screen readers. */
export class Announcements {
  /** The current announcement. */
  readonly said = signal('');
  #waiting: string[] = [];
  #isWaiting = false;

  say(sentence: string): void {
    this.#waiting.push(sentence);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#speak();
    setTimeout(() => {
      this.#isWaiting = false;
      this.#speak();
    }, SAY_EVERY_MS);
  }

  takeEvents(events: readonly WorldEvent[]): void {
    for (const [type, ofType] of Map.groupBy(events, (event) => event.type)) {
      const sentence = sentenceOf(type, ofType);
      if (sentence !== null) this.say(sentence);
    }
  }

  #speak(): void {
    if (this.#waiting.length > 0) this.said.value = this.#waiting.splice(0).slice(-3).join('. ');
  }
}
