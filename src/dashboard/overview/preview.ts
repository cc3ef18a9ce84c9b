import { signal } from '@preact/signals';
import type { WorldResponse } from '../../contract/control-responses.ts';
import { World } from '../../client/controlled-world.ts';
import { sendWithFetch } from '../store/fetch-client.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Together } from '../store/together.ts';
import { messageOf } from '../ui/formats.ts';

const MOVE_EVERY_MS = 60;

/** A look into the future of a world: a copy of it with another key, whose clock goes ahead. */
export class Preview {
  /** The time that is looked at. */
  readonly atMs = signal(0);
  /** What the world would be then; null until it is known. */
  readonly future = signal<WorldResponse | null>(null);
  readonly trouble = signal<string | null>(null);
  readonly #live: LiveWorld;
  readonly #copy: World;
  readonly #moving = new Together(() => this.#move(), MOVE_EVERY_MS);
  #isOld = true;
  #snapshot = '';
  /** How far the copy has gone. */
  #reachedMs = Infinity;

  constructor(live: LiveWorld) {
    this.#live = live;
    this.#copy = new World(sendWithFetch, live.world.url, `${live.world.apiKey}-preview`);
  }

  look(atMs: number): void {
    this.atMs.value = atMs;
    this.#moving.order();
  }

  /** The world has changed: its copy is made anew. */
  renew(): void {
    this.#isOld = true;
    this.#moving.order();
  }

  close(): void {
    this.#moving.close();
    void this.#copy.reset().catch(() => undefined); // it only takes room
  }

  async #move(): Promise<void> {
    const atMs = this.atMs.value;
    try {
      if (this.#isOld) {
        this.#isOld = false; // before it is asked: the world may change once more meanwhile
        this.#reachedMs = Infinity;
        this.#snapshot = await this.#live.world.snapshot();
      }
      if (atMs < this.#reachedMs) await this.#copy.restore(this.#snapshot); // a clock never goes back
      const { now } = await this.#copy.clock.freeze();
      if (Date.parse(now) < atMs) await this.#copy.clock.advance({ to: new Date(atMs).toISOString() });
      this.#reachedMs = atMs;
      this.future.value = await this.#copy.summary();
      this.trouble.value = null;
    } catch (error) {
      this.#isOld = true;
      this.trouble.value = messageOf(error);
    }
  }
}
