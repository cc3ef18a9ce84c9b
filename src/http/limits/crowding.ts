/** A shorter text cannot hold enough to matter. */
const SHORT_CHARACTERS = 64 * 1024;
/** A snapshot has about 20 characters for each of its values, and 120 for each list and object; never fewer than these. */
const CHARACTERS_PER_VALUE = 10;
const CHARACTERS_PER_CONTAINER = 64;
const BESIDE = 100_000; // its counters are short

/** How many members the lists and objects that are open at once may have: what the engine keeps hold of while it reads. */
const MAX_OPEN_MEMBERS = 2_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Whether a JSON text holds so many values that they would take many times its memory, and minutes to read. Looks at each
 * character once.
 *
 * @param maxOpenMembers so many members may the lists and objects have that are open at once
 */
export function isTooCrowded(text: string, maxOpenMembers = MAX_OPEN_MEMBERS): boolean {
  if (text.length <= SHORT_CHARACTERS) return false;
  const maxValues = BESIDE + text.length / CHARACTERS_PER_VALUE;
  const maxContainers = BESIDE + text.length / CHARACTERS_PER_CONTAINER;
  const members: number[] = []; // of each list and object that is open
  let values = 0;
  let containers = 0;
  let openMembers = 0;
  let isText = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) isText = !isText;
    else if (isText) index += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA || OPENS.has(code)) {
      if (code !== COMMA) {
        members.push(0);
        containers += 1;
      }
      values += 1;
      openMembers += 1;
      members[members.length - 1]! += 1;
      if (values > maxValues || containers > maxContainers || openMembers > maxOpenMembers) return true;
    } else if (CLOSES.has(code)) openMembers -= members.pop() ?? 0;
  }
  return false;
}
