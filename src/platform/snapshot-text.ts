import { Refusal } from '../contract/errors.ts';
import { pathText } from '../contract/shape-issues.ts';
import { StateDocument, StateEntries, StateTransactions, type StateHead } from '../contract/state.ts';
import { STATE_FORMAT, STATE_VERSION, type StatePiece, type Sum } from '../world/world-state.ts';
import { jsonPlaces, readItems, readJson, type JsonPlaces } from './json-pieces.ts';

/** The text of a snapshot is damaged, or was never one. */
export const refused = (message: string): Refusal => new Refusal('STATE_REFUSED', { message });

const LISTS = { entries: StateEntries, transactions: StateTransactions } as const;
type ListName = keyof typeof LISTS;
const listNames = Object.keys(LISTS) as readonly ListName[];

const SHAPE = {
  objects: new Set(['world']),
  lists: new Set(listNames.map((name) => `world.${name}`)),
};

/** A document without the items of its lists; a list that is none is in it as it is. */
function shellOf(bytes: Buffer, { values, lists }: JsonPlaces): Record<string, unknown> {
  const shell: Record<string, unknown> = {};
  const put = (path: string, value: unknown): void => {
    if (!path.startsWith('world.')) shell[path] = value;
    else ((shell['world'] ??= {}) as Record<string, unknown>)[path.slice('world.'.length)] = value;
  };
  for (const [path, range] of values) put(path, readJson(bytes, range));
  for (const path of lists.keys()) put(path, []);
  return shell;
}

/** @throws Refusal STATE_REFUSED for what is no snapshot, or one of another version, or damaged */
function checkShell(shell: Record<string, unknown>): StateDocument {
  if (shell['format'] !== STATE_FORMAT) {
    throw refused('This is no snapshot of a world: it must be what GET /_sandbox/state answered');
  }
  if (shell['version'] !== STATE_VERSION) {
    const version = JSON.stringify(shell['version']);
    throw refused(`This snapshot has version ${version}; this sandbox takes version ${STATE_VERSION}`);
  }
  const result = StateDocument.safeParse(shell);
  if (!result.success) throw damagedAt(result.error.issues);
  return shell as StateDocument; // as it came: what zod returns has its keys in another order
}

type Issues = readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];

function damagedAt([first]: Issues, list: readonly PropertyKey[] = [], offset = 0): Refusal {
  const path = (first?.path ?? []).map((key, depth) =>
    list.length > 0 && depth === 0 ? Number(key) + offset : key,
  );
  return refused(`This snapshot is damaged at ${pathText([...list, ...path])}: ${first?.message}`);
}

/** Text that was read as a snapshot, as far as it can be without its lists. */
interface SnapshotText {
  readonly head: StateHead;
  /** The entries, then the transactions. What follows the last of them is whole: its checksum was the right one. */
  readonly pieces: AsyncGenerator<StatePiece>;
}

/**
 * Reads the text of a snapshot in pieces, with turns for others in between.
 *
 * @param sum a new one
 * @throws Refusal STATE_REFUSED or INVALID_JSON: at once, or when a piece is asked for
 */
export async function readSnapshot(
  bytes: Buffer,
  sum: Sum,
  letOthersRun: () => Promise<void>,
): Promise<SnapshotText> {
  const places = await jsonPlaces(bytes, SHAPE, letOthersRun);
  const { world, checksum } = checkShell(shellOf(bytes, places));

  async function* pieces(): AsyncGenerator<StatePiece> {
    sum.add(`{"head":${JSON.stringify(world.head)}`);
    for (const name of listNames) {
      sum.add(`,"${name}":[`);
      let read = 0;
      for (const range of places.lists.get(`world.${name}`) ?? []) {
        const items = readItems(bytes, range);
        const result = LISTS[name].safeParse(items);
        if (!result.success) throw damagedAt(result.error.issues, ['world', name], read);
        sum.add((read === 0 ? '' : ',') + items.map((item) => JSON.stringify(item)).join(','));
        read += items.length;
        yield { [name]: items };
      }
      sum.add(']');
    }
    sum.add('}');
    if (sum.total() !== checksum)
      throw refused('This snapshot is damaged: its checksum is that of another text');
  }
  return { head: world.head, pieces: pieces() };
}
