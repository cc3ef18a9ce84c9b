import assert from 'node:assert/strict';
import { connectSandbox } from '../../src/index.ts';
import type { Random } from './random.ts';
import { clientOf } from './sandbox.ts';
import type { SnapshotWorld } from './snapshot-lines.ts';
import { likenessOfModel, likenessOfState } from './world-likeness.ts';
import { agree, newModel, nextMove, type Foretold, type Steered } from './world-moves.ts';

const REFERENCES = Array.from({ length: 12 }, (_, nth) => `order-${nth}`);

/** How a world stood after a move. */
interface Moment {
  readonly foretold: Foretold;
  readonly likeness: string;
  /** How many requests of this life the log tells of by then. */
  readonly lines: number;
}

const momentOf = (foretold: Foretold, lines: number): Moment => ({
  foretold,
  likeness: likenessOfModel(foretold.model),
  lines,
});

/** A world that outlives its sandbox: all that it was since the sandbox was started last is remembered. */
export class CrashWorld {
  readonly key: string;
  readonly #random: Random;
  #moments: Moment[] = [momentOf({ model: newModel(), kept: null }, 0)];
  /** Request lines of this life, those before the latest file, and those before the one before it. */
  #logged = 0;
  #loggedAtFile = 0;
  #surelyKept = 0;

  constructor(key: string, random: Random) {
    this.key = key;
    this.#random = random;
  }

  /** The log tells of a request of this world. */
  logged(): void {
    this.#logged += 1;
  }

  /** The log tells of a file: it was begun after the one before it, so it has all that was over by then. */
  fileWritten(): void {
    this.#surelyKept = this.#loggedAtFile;
    this.#loggedAtFile = this.#logged;
  }

  /** Does one move after the other until the sandbox is killed. The last one may have happened or not. */
  async live(url: string, isKilled: () => boolean, moved: () => void): Promise<void> {
    const steered: Steered = { client: clientOf(connectSandbox({ url }).world(this.key)), snapshot: null };
    while (!isKilled()) {
      const move = nextMove(this.#random, REFERENCES);
      const { foretold: before, lines } = this.#moments.at(-1)!;
      const foretold = { model: before.model.copy(), kept: before.kept };
      const expected = move.foretell(foretold);
      // reads of the control API have no line, and some moves have nothing to do
      const isSilent = move.name.startsWith('keep') || expected === 'none' || expected === null;
      this.#moments.push(momentOf(foretold, lines + (isSilent ? 0 : 1)));
      const seen = await move.ask(steered).catch((error: unknown) => error);
      if (isKilled()) return;
      assert.deepEqual(seen, expected, `${this.key}: ${move.name}`);
      moved();
    }
  }

  /**
   * Finds the moment that a state file shows, and goes on from there.
   *
   * @returns how many moves were lost
   */
  restored(world: SnapshotWorld): number {
    const likeness = likenessOfState(world);
    const latest = this.#moments.findLastIndex((moment) => moment.likeness === likeness);
    assert.ok(latest >= 0, `${this.key} was never like this: ${likeness}`);
    const { foretold, lines } = this.#moments[latest]!;
    assert.ok(
      lines >= this.#surelyKept,
      `${this.key}: ${lines} requests are kept, ${this.#surelyKept} were over before that file was begun`,
    );
    const lost = this.#moments.length - 1 - latest;
    this.#moments = [momentOf({ model: foretold.model, kept: null }, 0)];
    this.#logged = this.#loggedAtFile = this.#surelyKept = 0;
    return lost;
  }

  /** Holds what a sandbox says of this world against the moment that it goes on from. */
  agree(url: string): Promise<void> {
    return agree(clientOf(connectSandbox({ url }).world(this.key)), this.#moments.at(-1)!.foretold.model);
  }
}
