import { isUtf8 } from 'node:buffer';
import { Refusal } from '../contract/errors.ts';
import { tooCrowded, tooNested } from '../http/limits/body-refusals.ts';
import { isTooCrowded } from '../http/limits/crowding.ts';
import { MAX_NESTING } from '../contract/nesting.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** How much text is looked at, and how many items are taken, before others have their turn: some milliseconds. */
const BYTES_AT_ONCE = 128 * 1024;
const ITEMS_AT_ONCE = 200;

/** How many members an object may have whose members are asked for one by one: far more than any has. */
const MAX_MEMBERS = 1000;

/** A part of a text: from, up to and not including. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Where things stand in a JSON document. */
export interface JsonPlaces {
  /** Of all members but lists that were asked for, by their path: `world.head`. */
  readonly values: ReadonlyMap<string, Range>;
  /** Of some items at a time, by the path of their list. */
  readonly lists: ReadonlyMap<string, readonly Range[]>;
}

/** What a document has in it: objects whose members are asked for one by one, lists whose items are. */
export interface JsonShape {
  readonly objects: ReadonlySet<string>;
  readonly lists: ReadonlySet<string>;
}

const wrong = (message: string): Refusal => new Refusal('INVALID_JSON', { message });

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * Finds out where the parts of a large JSON document are, without making anything of them, so that they can be read one after the
 * other. Only what lies between the parts is checked; each part is, when it is read.
 */
class PlaceFinder {
  readonly #bytes: Buffer;
  readonly #shape: JsonShape;
  readonly #letOthersRun: () => Promise<void>;
  readonly #values = new Map<string, Range>();
  readonly #lists = new Map<string, readonly Range[]>();
  #at = 0;
  #turnAt = BYTES_AT_ONCE;

  constructor(bytes: Buffer, shape: JsonShape, letOthersRun: () => Promise<void>) {
    this.#bytes = bytes;
    this.#shape = shape;
    this.#letOthersRun = letOthersRun;
  }

  async find(): Promise<JsonPlaces> {
    await this.#object('');
    this.#skipSpace();
    if (this.#at < this.#bytes.length) throw this.#unexpected();
    return { values: this.#values, lists: this.#lists };
  }

  async #object(path: string): Promise<void> {
    this.#take(OPEN_OBJECT);
    if (this.#isNext(CLOSE_OBJECT)) return this.#take(CLOSE_OBJECT);
    for (let members = 1; ; members += 1) {
      if (members > MAX_MEMBERS) throw tooCrowded();
      const key = readJson(this.#bytes, this.#value());
      if (typeof key !== 'string') throw this.#unexpected();
      this.#take(COLON);
      const member = path === '' ? key : `${path}.${key}`;
      if (this.#shape.objects.has(member) && this.#isNext(OPEN_OBJECT)) await this.#object(member);
      else if (this.#shape.lists.has(member) && this.#isNext(OPEN_LIST)) await this.#list(member);
      else this.#values.set(member, this.#value());
      if (this.#isNext(CLOSE_OBJECT)) return this.#take(CLOSE_OBJECT);
      this.#take(COMMA);
    }
  }

  async #list(path: string): Promise<void> {
    const ranges: Range[] = [];
    this.#lists.set(path, ranges);
    this.#take(OPEN_LIST);
    if (this.#isNext(CLOSE_LIST)) return this.#take(CLOSE_LIST);
    for (;;) {
      this.#skipSpace();
      const from = this.#at;
      let isLast = false;
      for (let items = 0; !isLast && items < ITEMS_AT_ONCE && this.#at - from < BYTES_AT_ONCE; items += 1) {
        if (items > 0) this.#take(COMMA);
        this.#value();
        isLast = this.#isNext(CLOSE_LIST);
      }
      ranges.push({ from, to: this.#at });
      await this.#turn();
      if (isLast) return this.#take(CLOSE_LIST);
      this.#take(COMMA);
    }
  }

  async #turn(): Promise<void> {
    if (this.#at < this.#turnAt) return;
    this.#turnAt = this.#at + BYTES_AT_ONCE;
    await this.#letOthersRun();
  }

  /** Goes past a value. */
  #value(): Range {
    this.#skipSpace();
    const from = this.#at;
    for (let depth = 0; ;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw this.#unexpected();
      this.#at += 1;
      if (byte === QUOTE) this.#skipText();
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
      else if (depth === 0) this.#skipWord();
      if (depth > MAX_NESTING) throw tooNested();
      if (depth < 0) throw this.#unexpected();
      if (depth === 0) return { from, to: this.#at };
    }
  }

  #skipText(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw this.#unexpected();
      this.#at += byte === BACKSLASH ? 2 : 1;
      if (byte === QUOTE) return;
    }
  }

  /** A number, true, false or null: to whatever cannot be part of it. */
  #skipWord(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      const isEnd = byte === undefined || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
      if (isEnd || isSpace(byte)) return;
      this.#at += 1;
    }
  }

  #skipSpace(): void {
    while (this.#at < this.#bytes.length && isSpace(this.#bytes[this.#at]!)) this.#at += 1;
  }

  #isNext(byte: number): boolean {
    this.#skipSpace();
    return this.#bytes[this.#at] === byte;
  }

  #take(byte: number): void {
    if (!this.#isNext(byte)) throw this.#unexpected();
    this.#at += 1;
  }

  #unexpected(): Refusal {
    return wrong(`The request body is not valid JSON at byte ${Math.min(this.#at, this.#bytes.length)}`);
  }
}

/**
 * Where the parts of a large JSON object are.
 *
 * @param letOthersRun is waited for every so often
 * @throws Refusal INVALID_JSON, or INVALID_REQUEST for one that is nested too deep, or of too many members
 */
export const jsonPlaces = (
  bytes: Buffer,
  shape: JsonShape,
  letOthersRun: () => Promise<void>,
): Promise<JsonPlaces> => new PlaceFinder(bytes, shape, letOthersRun).find();

/** Reads a part of a document. @throws Refusal INVALID_JSON, or INVALID_REQUEST for one of too many values */
export function readJson(bytes: Buffer, { from, to }: Range): unknown {
  return parsed(bytes.subarray(from, to), '', '');
}

/** Reads some items of a list. @throws Refusal INVALID_JSON, or INVALID_REQUEST for too many values */
export const readItems = (bytes: Buffer, { from, to }: Range): readonly unknown[] =>
  parsed(bytes.subarray(from, to), '[', ']') as readonly unknown[];

function parsed(bytes: Buffer, before: string, after: string): unknown {
  // decoding would replace what is no UTF-8, and two texts could become one
  if (!isUtf8(bytes)) throw wrong('The request body is not valid UTF-8');
  const text = before + bytes.toString('utf8') + after;
  if (isTooCrowded(text)) throw tooCrowded();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw wrong('The request body is not valid JSON');
  }
}
