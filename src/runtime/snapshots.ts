import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '../contract/errors.ts';
import { pathText } from '../contract/shape-issues.ts';
import { StateDocument } from '../contract/state.ts';
import { frozenClock, type WorldClock } from '../domain/clock.ts';
import { full } from '../domain/payout-refusals.ts';
import type { WallClock } from '../domain/wall-clock.ts';
import type { World } from '../domain/world.ts';
import {
  isWhole,
  STATE_FORMAT,
  STATE_VERSION,
  stateInPieces,
  stateOf,
  type Sum,
  type WorldState,
} from '../domain/world-state.ts';
import { ruleOf, ScenarioError } from './scenario-file.ts';
import type { ScenarioLibrary } from './scenario-library.ts';

/** SHA-256, as 64 hexadecimal digits. */
export function sha256Sum(): Sum {
  const hash = createHash('sha256');
  return { add: (piece) => void hash.update(piece), total: () => hash.digest('hex') };
}

const refused = (message: string): Refusal => new Refusal('STATE_REFUSED', { message });

const Envelope = z.object({ format: z.unknown(), version: z.unknown() });

/** Reads a document. @throws Refusal STATE_REFUSED for one of another version, or damaged */
function readState(document: unknown): WorldState {
  const envelope = Envelope.safeParse(document);
  if (!envelope.success || envelope.data.format !== STATE_FORMAT) {
    throw refused('This is no snapshot of a world: it must be what GET /_sandbox/state answered');
  }
  if (envelope.data.version !== STATE_VERSION) {
    const version = JSON.stringify(envelope.data.version);
    throw refused(`This snapshot has version ${version}; this sandbox takes version ${STATE_VERSION}`);
  }
  const result = StateDocument.safeParse(document);
  if (!result.success) {
    const [first] = result.error.issues;
    throw refused(`This snapshot is damaged at ${pathText(first?.path ?? [])}: ${first?.message}`);
  }
  const whole = document as StateDocument; // as it came: what zod returns has its keys in another order
  if (!isWhole(whole, sha256Sum())) {
    throw refused('This snapshot is damaged: its checksum is that of another text');
  }
  return stateOf(whole);
}

/** Where the clock of a restored world goes on: at the time of the snapshot, running or frozen as it was. */
const clockAt = ({ clock, nowMs }: WorldState, wallClock: WallClock): WorldClock =>
  clock.frozenAtMs === null
    ? { frozenAtMs: null, aheadMs: nowMs - wallClock.nowMs() }
    : frozenClock(clock.frozenAtMs);

/** Writes worlds down, and makes them of what was written. */
export class Snapshots {
  readonly #scenarios: ScenarioLibrary;
  readonly #wallClock: WallClock;

  constructor(scenarios: ScenarioLibrary, wallClock: WallClock) {
    this.#scenarios = scenarios;
    this.#wallClock = wallClock;
  }

  /** The state of a world as a JSON document, in pieces. */
  async write(world: World) {
    const state = await world.state();
    return {
      pieces: stateInPieces(state, sha256Sum()),
      items: state.entries.length + state.transactions.length,
    };
  }

  /**
   * Puts a document in the place of all that a world is. Its time goes on from that of the snapshot.
   *
   * @throws Refusal STATE_REFUSED for one of another version, or damaged; SANDBOX_FULL. Nothing is changed then
   */
  async restore(world: World, document: unknown): Promise<void> {
    const state = readState(document);
    await this.put(
      world,
      { ...state, scenario: { ...state.scenario, isChosen: true } },
      clockAt(state, this.#wallClock),
    );
  }

  /** Puts a state in the place of all that a world is. @throws Refusal STATE_REFUSED or SANDBOX_FULL */
  async put(world: World, state: WorldState, clock: WorldClock): Promise<void> {
    const outcome = await world.restore(state, this.#made(state), clock);
    if (outcome.kind === 'full') throw full(outcome.maxTransactions);
    if (outcome.kind === 'damaged') throw refused(`This snapshot contradicts itself: ${outcome.what}`);
  }

  #made({ scenario: { name, source, isChosen }, rules }: WorldState): Parameters<World['restore']>[1] {
    try {
      const settings = source.settings;
      return {
        scenario: isChosen ? this.#scenarios.compile(source.document, `${name}.json`, settings) : null,
        rules: rules.map((rule) => ruleOf(JSON.stringify(rule), 'world')),
      };
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      throw refused(`The scenario of this snapshot cannot be used here: ${error.lines.join('; ')}`);
    }
  }
}
