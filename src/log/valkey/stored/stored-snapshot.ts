import type { ScenarioCompiler } from '../../../scenario/scenario.ts';
import type { Snapshot } from '../../../world/snapshot.ts';
import type { HeldRequests } from '../../../world/request/request-result.ts';
import type { WorldState } from '../../../world/state.ts';
import { readWorlds, snapshotText } from '../../snapshot-text.ts';
import type { WallClock } from '../../wall-clock.ts';
import type { StoreConnection } from '../store-connection.ts';

/** The place of a state in its log. */
export interface Place {
  readonly position: number;
  /** The name of the command at this position. */
  readonly name: string;
}

interface Head extends Place {
  readonly epoch: string;
  readonly generation: number;
  /** The requests that were held, which snapshots do not contain. */
  readonly held: HeldRequests;
}

export interface StoredState extends Head {
  readonly state: WorldState;
}

const PIECES_AT_ONCE = 16; // of some 64 KiB each
const MAX_LINE = Infinity;
/** No limit when it is read: it was counted when it was made. */
const NO_LIMIT = { grow: () => undefined, end: () => undefined };

/**
 * Writes a snapshot under a key: a hash of numbered pieces of text, the first of which is a head. Each may be written twice.
 *
 * @throws Refusal STORE_UNAVAILABLE
 */
export async function writeState(
  store: StoreConnection,
  key: string,
  head: Head,
  snapshot: Snapshot,
  keptMs: number,
): Promise<void> {
  let count = 0;
  let pieces: string[] = [];
  const write = async (): Promise<void> => {
    const fields = pieces.flatMap((piece, nth) => [count + nth, piece]);
    await store.reliably(() => store.script('writeState', key, keptMs, ...fields));
    count += pieces.length;
    pieces = [];
  };
  pieces.push(JSON.stringify(head));
  for await (const piece of snapshotText([snapshot])) {
    pieces.push(piece);
    if (pieces.length >= PIECES_AT_ONCE) await write();
  }
  if (pieces.length > 0) await write();
}

/** Reads it again. @returns null when it does not exist, or is replaced meanwhile. @throws Refusal STORE_UNAVAILABLE */
export async function readState(
  store: StoreConnection,
  key: string,
  compiler: ScenarioCompiler,
  wallClock: WallClock,
): Promise<StoredState | null> {
  const readHead = () => store.reliably(() => store.client.hget(key, '0'));
  const text = await readHead();
  if (text === null) return null;
  const head = JSON.parse(text) as Head;
  const options = { compiler, wallClock, maxLine: MAX_LINE, draft: NO_LIMIT };
  try {
    for await (const read of readWorlds(piecesOf(store, key), options)) {
      if ('fault' in read) throw read.fault;
      return { ...head, state: Object.assign(read.state, { generation: head.generation, held: head.held }) };
    }
  } catch (error) {
    if ((await readHead()) === text) throw error;
  }
  return null;
}

async function* piecesOf(store: StoreConnection, key: string): AsyncGenerator<Uint8Array> {
  for (let from = 1; ; from += PIECES_AT_ONCE) {
    const fields = Array.from({ length: PIECES_AT_ONCE }, (_, nth) => String(from + nth));
    for (const piece of await store.reliably(() => store.client.hmget(key, ...fields))) {
      if (piece === null) return;
      yield Buffer.from(piece);
    }
  }
}
