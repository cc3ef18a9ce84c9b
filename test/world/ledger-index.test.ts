import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextIndex } from '../../src/ledger/text-index.ts';

const PRIME = 0x01000193;

/** The number by which a product with `PRIME` becomes the other factor again, in 32 bits. */
const INVERSE = (() => {
  let inverse = PRIME;
  for (let round = 0; round < 5; round += 1) inverse = Math.imul(inverse, 2 - Math.imul(PRIME, inverse));
  return inverse;
})();

/** Texts of three characters that all have one hash, as an attacker would choose them: the last of them makes up for the others. */
function textsOfOneHash(count: number): readonly string[] {
  const wanted = Math.imul(0x12345678, INVERSE); // what the last character has to lead to, before it is multiplied
  const texts: string[] = [];
  for (let first = 0; texts.length < count; first += 1) {
    const start = Math.imul(3 ^ first, PRIME);
    for (let second = 0; second < 65_536; second += 1) {
      const last = Math.imul(start ^ second, PRIME) ^ wanted;
      if (last >>> 16 === 0) texts.push(String.fromCharCode(first, second, last));
    }
  }
  return texts.slice(0, count);
}

/** An index, and beside it a map that does the same. */
class Both {
  readonly #texts: (string | null)[] = [];
  readonly #map = new Map<string, number>();
  /** Of which the index did not say whether they were new. */
  readonly #wrong: string[] = [];
  looks = 0;
  readonly index = new TextIndex((position) => {
    this.looks += 1;
    const text = this.#texts[position];
    if (text === undefined) throw new Error(`the index asks for ${position}, which it was never told of`);
    return text;
  });

  set(text: string): void {
    const position = this.#texts.push(text) - 1;
    this.index.set(text, position);
    this.#map.set(text, position);
  }

  /** As `set`, unless the text is known. */
  add(text: string): void {
    const position = this.#texts.push(text) - 1;
    const isNew = !this.#map.has(text);
    if (this.index.add(text, position) !== isNew) this.#wrong.push(text);
    if (isNew) this.#map.set(text, position);
  }

  /** Of its texts, and others, those about which the two do not agree. */
  differences(...others: readonly string[]): readonly string[] {
    const isOther = (text: string): boolean =>
      this.index.find(text) !== this.#map.get(text) || this.index.has(text) !== this.#map.has(text);
    const told = this.index.size === this.#map.size ? [] : [`${this.index.size} texts`];
    return [...told, ...this.#wrong, ...others.filter(isOther), ...[...this.#map.keys()].filter(isOther)];
  }
}

const MANY_ALIKE = textsOfOneHash(1100);
const ALIKE = MANY_ALIKE.slice(0, 40);

test('an index does what a map does, with texts of one hash among others', () => {
  const anyText = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...ALIKE.slice(0, 20)) },
    { weight: 1, arbitrary: fc.string({ maxLength: 2 }) },
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, fc.boolean()), { maxLength: 120 }), (texts) => {
      const both = new Both();
      expect(both.differences('', 'a')).toEqual([]);
      for (const [nth, [text, isAdded]] of texts.entries()) {
        if (isAdded) both.add(text);
        else both.set(text);
        if (nth % 10 === 0) expect(both.differences(...ALIKE, '', 'a')).toEqual([]);
      }
      expect(both.differences(...ALIKE, '', 'a', 'b')).toEqual([]);
    }),
  );
});

test('two texts of one hash are told apart by looking at them', () => {
  const both = new Both();
  const [one, other, third] = ALIKE;
  both.set(one!);
  expect([both.index.find(other!), both.looks]).toEqual([undefined, 1]);
  both.set(other!);
  both.looks = 0;
  expect([both.index.find(third!), both.looks]).toEqual([undefined, 2]);
  expect([both.index.find(one!), both.index.find(other!)]).toEqual([0, 1]);
});

test('an index of some thousand texts does what a map does at each of its sizes', () => {
  const both = new Both();
  both.set(''); // its hash is 0
  for (let nth = 0; nth < 4000; nth += 1) {
    if (nth % 2 === 0) both.set(`order-${nth}`);
    else both.add(`order-${nth}`);
    if (nth % 3 === 0) both.set(`order-${nth >> 1}`); // one that is known already
    if (nth % 5 === 0) both.add(`order-${nth >> 1}`);
    if (nth % 400 === 0) expect(both.differences('order-', 'order', `order-${nth + 1}`)).toEqual([]);
  }
  expect(both.differences('order--1', 'order-4000')).toEqual([]);
  // a text is looked at when its hash is the one that is asked for, and seldom else
  both.looks = 0;
  for (let nth = 0; nth < 4000; nth += 1) both.index.has(`order-${nth}`);
  for (let nth = 0; nth < 4000; nth += 1) both.index.has(`other-${nth}`);
  expect(both.looks).toBeLessThan(4010);
});

test('more texts of one hash than a part of the index holds are kept all the same', () => {
  const both = new Both();
  for (const text of MANY_ALIKE.slice(0, 800)) both.set(text);
  for (let nth = 0; nth < 900; nth += 1) both.set(`order-${nth}`);
  expect(both.differences(...MANY_ALIKE.slice(0, 900), 'order-900')).toEqual([]);
});

test('texts of one hash may be more than a part of the index has places, with no others beside them', () => {
  const both = new Both();
  for (const text of MANY_ALIKE) both.set(text);
  expect(both.differences('order')).toEqual([]);
});
