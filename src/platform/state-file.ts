import { createReadStream } from 'node:fs';
import { access, constants, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { StateEntries, StateHead, StateTransactions } from '../contract/state.ts';
import type { Transaction } from '../payout/payout.ts';
import type { Entry } from '../payout/wallet.ts';
import type { WorldState } from '../world/world-state.ts';
import { sha256Sum } from './snapshots.ts';
import { removeAbandoned, unfinishedOf } from './unfinished-file.ts';

/** A state file that cannot be used. The message is one line and names the file. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError';
}

/** A world with the id that its key gives it. */
export interface KeptWorld {
  readonly id: string;
  readonly state: WorldState;
}

const FORMAT = 'payout-sandbox/state';
const VERSION = 1;
/** How many items stand on one line: a line is some 300 KB. */
const ITEMS_A_LINE = 500;

type Line = Readonly<Record<string, unknown>>;

function* linesOf({ id, state }: KeptWorld): Generator<Line> {
  const { entries, transactions, ...head } = state;
  yield { world: id, head };
  for (let from = 0; from < entries.length; from += ITEMS_A_LINE) {
    yield { entries: entries.slice(from, from + ITEMS_A_LINE) };
  }
  for (let from = 0; from < transactions.length; from += ITEMS_A_LINE) {
    yield { transactions: transactions.slice(from, from + ITEMS_A_LINE) };
  }
}

/** Makes what a folder lists lasting. Where a folder cannot be opened (Windows), the system does it by itself. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/**
 * Writes worlds to a file: a line of JSON for each world, its entries and its transactions, and the last line with the
 * sum of all. It takes the place of the old file at once, when it is whole: a crash on the way costs nothing but itself.
 *
 * @returns how many worlds were written
 */
export async function writeStateFile(file: string, worlds: AsyncIterable<KeptWorld>): Promise<number> {
  const unfinished = unfinishedOf(file);
  const sum = sha256Sum();
  let count = 0;
  try {
    const handle = await open(unfinished, 'w', 0o600);
    try {
      const write = async (line: Line): Promise<void> => {
        const text = `${JSON.stringify(line)}\n`;
        sum.add(text);
        await handle.appendFile(text); // all of it: a plain write may stop half-way, where a disk is full
      };
      await write({ format: FORMAT, version: VERSION });
      for await (const world of worlds) {
        for (const line of linesOf(world)) await write(line);
        count += 1;
      }
      await handle.appendFile(`${JSON.stringify({ worlds: count, checksum: sum.total() })}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new StateFileError(`the state file ${file} cannot be written (${code})`);
  }
  return count;
}

/**
 * Finds out at the start that nothing could be written at the stop, and removes what a crash left behind.
 *
 * @throws StateFileError
 */
export async function prepareStateFolder(file: string): Promise<void> {
  try {
    await access(dirname(file), constants.W_OK);
    await removeAbandoned(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StateFileError(`the state file ${file} cannot be written (${code})`);
  }
}

/** The lines of a text that comes in pieces. (Node's own reader also ends a line where JSON lets a text go on.) */
async function* linesIn(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

const FileHead = z.object({ format: z.literal(FORMAT), version: z.number() });
const WorldLine = z.strictObject({ world: z.string().min(1), head: StateHead });
const FileEnd = z.strictObject({ worlds: z.int(), checksum: z.string() });

/** A world as it was read, with all that is in it. */
interface ReadWorld {
  readonly id: string;
  readonly state: StateHead & {
    readonly entries: readonly Entry[];
    readonly transactions: readonly Transaction[];
  };
}

interface Reading {
  readonly id: string;
  readonly head: StateHead;
  readonly entries: Entry[];
  readonly transactions: Transaction[];
}

/**
 * Reads a state file whole.
 *
 * @returns its worlds, or null when there is no such file
 * @throws StateFileError for a file of another version, or damaged: nothing of it may be used then
 */
export async function readStateFile(file: string): Promise<readonly ReadWorld[] | null> {
  const wrong = (what: string): StateFileError =>
    new StateFileError(`the state file ${file} ${what}: move it away to start afresh`);
  const damaged = (nth: number): StateFileError => wrong(`is damaged at line ${nth}`);
  const worlds: Reading[] = [];
  const sum = sha256Sum();
  let nth = 0;
  let end: z.infer<typeof FileEnd> | null = null;
  try {
    for await (const text of linesIn(createReadStream(file, 'utf8'))) {
      nth += 1;
      if (end !== null) throw damaged(nth);
      const line = parsed(text);
      if (line === undefined) throw nth === 1 ? wrong('is no state file') : damaged(nth);
      if (nth === 1) {
        const head = FileHead.safeParse(line);
        if (!head.success) throw wrong('is no state file');
        if (head.data.version !== VERSION) throw wrong(`has version ${head.data.version}, not ${VERSION}`);
      } else if (line['checksum'] !== undefined) {
        end = FileEnd.safeParse(line).data ?? null;
        if (end === null || end.checksum !== sum.total() || end.worlds !== worlds.length) throw damaged(nth);
        continue;
      } else if (!take(line, worlds)) {
        throw damaged(nth);
      }
      sum.add(`${text}\n`);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    if (error instanceof StateFileError) throw error;
    throw wrong(`cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
  if (end === null) throw wrong('ends too early');
  return worlds.map(({ id, head, entries, transactions }) => ({
    id,
    state: { ...head, entries, transactions },
  }));
}

function parsed(text: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null ? (line as Line) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Adds a line to what was read so far, as it came: what zod returns has its keys in another order.
 *
 * @returns false for one that does not fit
 */
function take(line: Line, worlds: Reading[]): boolean {
  const world = worlds.at(-1);
  if (line['world'] !== undefined) {
    const isWorld = WorldLine.safeParse(line).success;
    const { world: id, head } = line as { world: string; head: StateHead };
    if (isWorld) worlds.push({ id, head, entries: [], transactions: [] });
    return isWorld;
  }
  const { entries = [], transactions = [] } = line as Partial<Reading>;
  const fits = StateEntries.safeParse(entries).success && StateTransactions.safeParse(transactions).success;
  if (world === undefined || !fits) return false;
  for (const entry of entries) world.entries.push(entry);
  for (const transaction of transactions) world.transactions.push(transaction);
  return Object.keys(line).every((key) => key === 'entries' || key === 'transactions');
}
