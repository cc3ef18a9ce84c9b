/** The most characters of a short text: as many as the longest UTR has. */
const MOST = 22;
const WIDTH = 1 + MOST;
// what comes before the characters: one more than they are, or
const NONE = 0;
const LONG = 255;

/** Room for the short texts of so many rows, none of which has one yet. */
export const noShortTexts = (rows: number): Buffer => Buffer.alloc(rows * WIDTH);

/**
 * Writes a text as bytes: a million of them as objects would be most of what a collection has to look at.
 *
 * @param text null for none
 * @returns false when it is no short text in ASCII: the row then has one that is kept elsewhere
 */
export function writeShortText(texts: Buffer, row: number, text: string | null): boolean {
  const at = row * WIDTH;
  texts[at] = text === null ? NONE : LONG;
  if (text === null) return true;
  if (text.length > MOST) return false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return false;
    texts[at + 1 + index] = code;
  }
  texts[at] = text.length + 1;
  return true;
}

/** The text of a row; null when it has none, undefined when it is kept elsewhere. */
export function shortText(texts: Buffer, row: number): string | null | undefined {
  const at = row * WIDTH;
  const length = texts[at]!;
  if (length === NONE) return null;
  return length === LONG ? undefined : texts.toString('latin1', at + 1, at + length);
}

/** How long the text of a row is; 0 when it has none here. */
export function textLength(texts: Buffer, row: number): number {
  const length = texts[row * WIDTH]!;
  return length === NONE || length === LONG ? 0 : length - 1;
}
