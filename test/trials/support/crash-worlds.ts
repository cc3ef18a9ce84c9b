import assert from 'node:assert/strict';
import { connectSandbox } from '../../../src/index.ts';
import type { Random } from '../../support/world/random.ts';
import { clientOf } from '../../support/sandbox.ts';
import type { SnapshotWorld } from '../../support/world/snapshot-lines.ts';
import { fingerprintOfModel, fingerprintOfState } from './world-fingerprint.ts';
import {
  assertMatchesModel,
  newModel,
  nextMove,
  type ModelWorld,
  type RealWorld,
} from '../../support/world/world-moves.ts';

const REFERENCES = Array.from({ length: 12 }, (_, nth) => `order-${nth}`);

/** The state of a world after a move. */
interface Moment {
  readonly modelWorld: ModelWorld;
  readonly fingerprint: string;
  /** How many request lines the log has by then, since the latest start. */
  readonly lines: number;
}

const momentOf = (modelWorld: ModelWorld, lines: number): Moment => ({
  modelWorld,
  fingerprint: fingerprintOfModel(modelWorld.model),
  lines,
});

/** A world that survives crashes. It remembers every state that it had since the latest start. */
export class CrashWorld {
  readonly key: string;
  readonly #random: Random;
  #moments: Moment[] = [momentOf({ model: newModel(), kept: null }, 0)];
  /** Request lines since the latest start: all, those before the latest write, and those before the write before that. */
  #logged = 0;
  #loggedAtFile = 0;
  #surelyKept = 0;

  constructor(key: string, random: Random) {
    this.key = key;
    this.#random = random;
  }

  /** Called for each log line about a request to this world. */
  logged(): void {
    this.#logged += 1;
  }

  /** Called for each log line about a written file. Its write began after the previous one ended, so it has everything up to then. */
  fileWritten(): void {
    this.#surelyKept = this.#loggedAtFile;
    this.#loggedAtFile = this.#logged;
  }

  /** Makes moves until the sandbox is killed. The last move may or may not have happened. */
  async run(url: string, isKilled: () => boolean, moved: () => void): Promise<void> {
    const realWorld: RealWorld = {
      client: clientOf(connectSandbox({ url }).world(this.key)),
      snapshot: null,
    };
    while (!isKilled()) {
      const move = nextMove(this.#random, REFERENCES);
      const { modelWorld: before, lines } = this.#moments.at(-1)!;
      const modelWorld = { model: before.model.copy(), kept: before.kept };
      const expected = move.predict(modelWorld);
      // reads of the control API are not logged, and some moves do nothing
      const isSilent = move.name.startsWith('keep') || expected === 'none' || expected === null;
      this.#moments.push(momentOf(modelWorld, lines + (isSilent ? 0 : 1)));
      const seen = await move.ask(realWorld).catch((error: unknown) => error);
      if (isKilled()) return;
      assert.deepEqual(seen, expected, `${this.key}: ${move.name}`);
      moved();
    }
  }

  /**
   * Finds the state that a state file shows, and continues from there.
   *
   * @returns how many moves were lost
   */
  restored(world: SnapshotWorld): number {
    const fingerprint = fingerprintOfState(world);
    const latest = this.#moments.findLastIndex((moment) => moment.fingerprint === fingerprint);
    assert.ok(latest >= 0, `${this.key} never had this state: ${fingerprint}`);
    const { modelWorld, lines } = this.#moments[latest]!;
    assert.ok(
      lines >= this.#surelyKept,
      `${this.key}: ${lines} requests are kept, but ${this.#surelyKept} were logged before that file was begun`,
    );
    const lost = this.#moments.length - 1 - latest;
    this.#moments = [momentOf({ model: modelWorld.model, kept: null }, 0)];
    this.#logged = this.#loggedAtFile = this.#surelyKept = 0;
    return lost;
  }

  /** Compares this world in a sandbox with the state that it continues from. */
  assertMatchesModel(url: string): Promise<void> {
    return assertMatchesModel(
      clientOf(connectSandbox({ url }).world(this.key)),
      this.#moments.at(-1)!.modelWorld.model,
    );
  }
}
