import {
  FileEnd,
  FileHead,
  SNAPSHOT_FORMAT,
  SNAPSHOT_VERSION,
  WORLD_ITEMS,
  WorldEnd,
  WorldHead,
  type WorldItem,
} from '../contract/snapshot.ts';
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { isTooNested } from '../contract/service.ts';
import { pathText } from '../contract/shape-issues.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { refusedSnapshot, SnapshotReader, type Snapshot } from '../world/snapshot.ts';
import { Refusal } from '../contract/errors.ts';
import type { WorldState } from '../world/state-shape.ts';
import type { WallClock } from './wall-clock.ts';

/** About how much text is written or read before other work has its turn. */
const CHUNK_CHARACTERS = 64 * 1024;
/** What a line costs in addition to its characters. */
const CHARACTERS_OF_A_LINE = 128;

/** The most characters of one line of a snapshot. */
export const MAX_LINE = 1024 * 1024;

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** Worlds as NDJSON, in chunks. @param snapshots taken one after the other, as the text is read */
export async function* snapshotText(
  snapshots: Iterable<Snapshot> | AsyncIterable<Snapshot>,
): AsyncGenerator<string> {
  yield line({ format: SNAPSHOT_FORMAT, version: SNAPSHOT_VERSION });
  let worlds = 0;
  for await (const snapshot of snapshots) {
    yield* worldText(snapshot);
    worlds += 1;
  }
  yield line({ worlds });
}

function* worldText({ head, items }: Snapshot): Generator<string> {
  const sum = createHash('sha256');
  let chunk = line(head);
  for (const item of items) {
    chunk += line(item);
    if (chunk.length < CHUNK_CHARACTERS) continue;
    sum.update(chunk);
    yield chunk;
    chunk = '';
  }
  sum.update(chunk);
  yield chunk + line({ end: head.world, checksum: sum.digest('hex') });
}

interface ReadingOptions {
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
  readonly maxLine: number;
}

export interface ReadWorld {
  readonly id: string;
  readonly state: WorldState;
}

/** A line that comes in tiny pieces is joined after this many: each piece takes more memory than its text. */
const MAX_PARTS = 1000;

/** The lines of a text in UTF-8 that comes in pieces. @throws Refusal STATE_REFUSED or INVALID_JSON */
async function* linesIn(pieces: AsyncIterable<Uint8Array>, maxLine: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let parts: string[] = []; // of the line whose end has not come
  let length = 0;
  for await (const piece of pieces) {
    const [end = '', ...lines] = decoded(decoder, piece).split('\n');
    parts.push(end);
    length += end.length;
    for (const line of lines) {
      refuseLongLine(length, maxLine);
      yield parts.join('');
      parts = [line];
      ({ length } = line);
    }
    refuseLongLine(length, maxLine);
    if (parts.length >= MAX_PARTS) parts = [parts.join('')];
  }
  const last = parts.join('') + decoded(decoder);
  if (last !== '') yield last;
}

/** @param piece the end of the text when absent */
function decoded(decoder: InstanceType<typeof TextDecoder>, piece?: Uint8Array): string {
  try {
    return decoder.decode(piece, { stream: piece !== undefined });
  } catch {
    throw new Refusal('INVALID_JSON', { message: 'The snapshot is not valid UTF-8' });
  }
}

function refuseLongLine(length: number, maxLine: number): void {
  if (length <= maxLine) return;
  throw refusedSnapshot(`A line of this snapshot is longer than ${maxLine} characters`);
}

/** @throws Refusal STATE_REFUSED for a text that is not a snapshot, or for another version */
function checkHead(text: string | undefined): void {
  const head = parsed(text ?? '');
  if (head?.['format'] !== SNAPSHOT_FORMAT) {
    throw refusedSnapshot('This is neither a snapshot of a world nor a state file');
  }
  if (FileHead.safeParse(head).success) return;
  const version = JSON.stringify(head['version']);
  throw refusedSnapshot(
    `This snapshot has version ${version}; this sandbox reads version ${SNAPSHOT_VERSION}`,
  );
}

function parsed(text: string): Record<string, unknown> | undefined {
  if (isTooNested(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const damagedAt = (nth: number, what: string): Refusal =>
  refusedSnapshot(`This snapshot is damaged at line ${nth}: ${what}`);

function shaped<T extends z.ZodType>(schema: T, value: unknown, nth: number): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw damagedAt(nth, `${pathText(issue!.path)} ${issue!.message}`.trim());
}

function itemOf(value: Record<string, unknown>, nth: number): WorldItem {
  const [name = ''] = Object.keys(value);
  const schemas: Readonly<Record<string, z.ZodType>> = WORLD_ITEMS;
  if (!Object.hasOwn(schemas, name) || Object.keys(value).length > 1) {
    throw damagedAt(nth, 'it is not part of a world');
  }
  return { [name]: shaped(schemas[name]!, value[name], nth) } as WorldItem;
}

/** A world of which some lines have been read. */
type Reading = ReturnType<typeof beginWorld>;

/**
 * Reads worlds from NDJSON, line by line, with turns for other work in between.
 *
 * @throws Refusal STATE_REFUSED at the first damage or contradiction, behind which nothing is read; INVALID_JSON
 */
export async function* readWorlds(
  pieces: AsyncIterable<Uint8Array>,
  options: ReadingOptions,
): AsyncGenerator<ReadWorld> {
  const { compiler, wallClock, maxLine } = options;
  let reading: Reading | null = null;
  let nth = 0;
  let worlds = 0;
  let isWhole = false;
  let sinceYield = 0;
  for await (const text of linesIn(pieces, maxLine)) {
    nth += 1;
    if (nth === 1) {
      checkHead(text);
      continue;
    }
    if (isWhole) throw damagedAt(nth, 'it continues after its end');
    sinceYield += CHARACTERS_OF_A_LINE + text.length;
    if (sinceYield >= CHUNK_CHARACTERS) {
      await wallClock.yieldToEventLoop();
      sinceYield = 0;
    }
    const value = parsed(text);
    if (value === undefined) throw damagedAt(nth, 'it is not JSON');
    if (reading === null && 'worlds' in value) {
      if (shaped(FileEnd, value, nth).worlds !== worlds) throw damagedAt(nth, 'worlds are missing');
      isWhole = true;
    } else if (reading === null) {
      reading = beginWorld(text, value, nth, compiler);
      worlds += 1;
    } else if ('end' in value) {
      yield endWorld(reading, value, nth);
      reading = null;
    } else {
      reading.sum.update(`${text}\n`);
      reading.reader.add(itemOf(value, nth));
    }
  }
  if (nth === 0) checkHead(undefined);
  if (!isWhole) throw refusedSnapshot('This snapshot ends too early');
}

function beginWorld(text: string, value: object, nth: number, compiler: ScenarioCompiler) {
  if (!('world' in value)) throw damagedAt(nth, 'it is not part of a world');
  const head = shaped(WorldHead, value, nth);
  const sum = createHash('sha256').update(`${text}\n`);
  return { id: head.world, reader: new SnapshotReader(head, compiler), sum };
}

function endWorld({ id, reader, sum }: Reading, value: object, nth: number): ReadWorld {
  const { end, checksum } = shaped(WorldEnd, value, nth);
  if (end !== id) throw damagedAt(nth, 'it ends another world');
  if (checksum !== sum.digest('hex')) throw damagedAt(nth, 'its checksum is that of another text');
  return { id, state: reader.finish() };
}
