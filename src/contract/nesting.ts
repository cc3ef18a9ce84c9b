/** How deep JSON may be nested: deeper than any real request, but far from overflowing the stack. */
export const MAX_NESTING = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [LIST, LIST_END] = [0x5b, 0x5d];
const [OBJECT, OBJECT_END] = [0x7b, 0x7d];

/** Whether the lists and objects of a JSON text are nested deeper than that. Linear in the text. */
export function isTooNested(text: string, most = MAX_NESTING): boolean {
  let depth = 0;
  let isText = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) isText = !isText;
    else if (isText) index += code === BACKSLASH ? 1 : 0;
    else if (code === LIST || code === OBJECT) depth += 1;
    else if (code === LIST_END || code === OBJECT_END) depth -= 1;
    if (depth > most) return true;
  }
  return false;
}
