import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noShortTexts, shortText, textLength, writeShortText } from '../../src/ledger/short-texts.ts';

const ROWS = 5;
const MOST = 22;

const anyAscii = fc.string({
  unit: fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code)),
  maxLength: MOST,
});

const isShort = (text: string | null): boolean =>
  text === null || (text.length <= MOST && /^[\0-\u007f]*$/.test(text));

test('a text of at most 22 characters in ASCII is kept in its row, and of any other only that there is one', () => {
  const anyText = fc.oneof(
    anyAscii,
    fc.constantFrom(
      null,
      '',
      'A'.repeat(MOST),
      '\u007f',
      '\u0080',
      '\u0100',
      'A'.repeat(MOST + 1),
      'A'.repeat(400),
    ),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(ROWS - 1), anyText), { maxLength: 20 }), (written) => {
      const texts = noShortTexts(ROWS);
      const list = Array.from({ length: ROWS }, (): string | null => null);
      for (const [row, text] of written) {
        expect(writeShortText(texts, row, text)).toBe(isShort(text));
        list[row] = text;
      }
      expect(list.map((_, row) => shortText(texts, row))).toEqual(
        list.map((text) => (isShort(text) ? text : undefined)),
      );
      expect(list.map((_, row) => textLength(texts, row))).toEqual(
        list.map((text) => (isShort(text) ? (text?.length ?? 0) : 0)),
      );
    }),
  );
});
