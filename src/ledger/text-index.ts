const FIRST_SLOTS = 16;
const MOST_SLOTS = 1024;
const MOST_DEPTH = 20; // texts that share so many bits are kept in one segment that grows
const FULL = 0.75;

/** A part of an index: pairs of a hash and a position from 1, at the first free place after the one that the hash names. */
interface Segment {
  slots: Int32Array;
  used: number;
  /** How many leading bits all hashes in it share. */
  readonly depth: number;
}

const segmentOf = (slots: number, depth: number): Segment => ({
  slots: new Int32Array(slots * 2),
  used: 0,
  depth,
});

/** 32 bits of a text, each of which depends on all of it. */
function hashOf(text: string): number {
  let hash = text.length;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function place({ slots }: Segment, hash: number, position: number): void {
  const mask = slots.length - 1;
  let slot = (hash * 2) & mask;
  while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
  slots[slot] = hash;
  slots[slot + 1] = position + 1;
}

/**
 * Finds the position of a text in a list that is kept elsewhere. It holds numbers only, and grows by small parts of itself
 * (extendible hashing), so that no single addition takes long, however many there are.
 */
export class TextIndex {
  readonly #textAt: (position: number) => string | null;
  /** By the leading bits of the hash; a segment stands here once for each value of those that it does not look at. */
  #segments: Segment[] = [segmentOf(FIRST_SLOTS, 0)];
  #depth = 0;
  #size = 0;

  /** @param textAt the text at a position that was added */
  constructor(textAt: (position: number) => string | null) {
    this.#textAt = textAt;
  }

  get size(): number {
    return this.#size;
  }

  has(text: string): boolean {
    return this.find(text) !== undefined;
  }

  find(text: string): number | undefined {
    const hash = hashOf(text);
    const { slots } = this.#segmentOf(hash);
    const nth = slots[this.#slotOf(slots, hash, text) + 1]!;
    return nth === 0 ? undefined : nth - 1;
  }

  /** Says where a text is, whether it was known or not. */
  set(text: string, position: number): void {
    const hash = hashOf(text);
    const segment = this.#segmentOf(hash);
    this.#write(segment, this.#slotOf(segment.slots, hash, text), hash, position);
  }

  /** Says where a text is, unless it was known. @returns whether it was not */
  add(text: string, position: number): boolean {
    const hash = hashOf(text);
    const segment = this.#segmentOf(hash);
    const slot = this.#slotOf(segment.slots, hash, text);
    if (segment.slots[slot + 1] !== 0) return false;
    this.#write(segment, slot, hash, position);
    return true;
  }

  #write(segment: Segment, slot: number, hash: number, position: number): void {
    const { slots } = segment;
    const isNew = slots[slot + 1] === 0;
    slots[slot] = hash;
    slots[slot + 1] = position + 1;
    if (!isNew) return;
    segment.used += 1;
    this.#size += 1;
    if (segment.used * 2 > slots.length * FULL) this.#enlarge(segment, hash);
  }

  #segmentOf(hash: number): Segment {
    return this.#segments[this.#depth === 0 ? 0 : hash >>> (32 - this.#depth)]!;
  }

  /** Where a text is, or else the free place for it. */
  #slotOf(slots: Int32Array, hash: number, text: string): number {
    const mask = slots.length - 1;
    let slot = (hash * 2) & mask;
    while (slots[slot + 1] !== 0) {
      if (slots[slot] === hash && this.#textAt(slots[slot + 1]! - 1) === text) break;
      slot = (slot + 2) & mask;
    }
    return slot;
  }

  /** Doubles a segment while it is small, and then makes two of it, by the next bit of the hash. */
  #enlarge(segment: Segment, hash: number): void {
    const { slots, depth } = segment;
    if (slots.length < MOST_SLOTS * 2 || depth === MOST_DEPTH) {
      segment.slots = new Int32Array(slots.length * 2);
      for (let slot = 0; slot < slots.length; slot += 2) {
        if (slots[slot + 1] !== 0) place(segment, slots[slot]!, slots[slot + 1]! - 1);
      }
      return;
    }
    if (depth === this.#depth) {
      this.#segments = this.#segments.flatMap((each) => [each, each]);
      this.#depth += 1;
    }
    const halves = [segmentOf(MOST_SLOTS, depth + 1), segmentOf(MOST_SLOTS, depth + 1)] as const;
    for (let slot = 0; slot < slots.length; slot += 2) {
      if (slots[slot + 1] === 0) continue;
      const half = halves[((slots[slot]! >>> (31 - depth)) & 1) as 0 | 1];
      place(half, slots[slot]!, slots[slot + 1]! - 1);
      half.used += 1;
    }
    const places = 2 ** (this.#depth - depth);
    const first = Math.floor((hash >>> (32 - this.#depth)) / places) * places;
    this.#segments.fill(halves[0], first, first + places / 2);
    this.#segments.fill(halves[1], first + places / 2, first + places);
  }
}
