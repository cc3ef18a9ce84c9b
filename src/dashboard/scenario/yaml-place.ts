/** Where in a YAML text a cursor is: enough of the language to complete keys and values, in block and in flow style. */
export interface YamlPlace {
  /** The keys from the top of the document; 0 stands for an item of a list. */
  readonly path: readonly (string | 0)[];
  /** The keys that the mapping at `path` has before the cursor. */
  readonly siblings: ReadonlySet<string>;
  /** The part of the word before the cursor. */
  readonly word: string;
  /** Whether the cursor is after a key and its colon, where no key can be. */
  readonly isValue: boolean;
}

interface Level {
  /** The indentation of its line; -1 inside braces or brackets. */
  readonly indent: number;
  readonly part: string | 0 | null;
  readonly keys: Set<string>;
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s#:,{}[\]'"][^#:,{}[\]]*?))\s*:(?=\s|$)/;
const DASH = /^-(?:\s+|$)/;
const LAST_WORD = /[\w.$-]*$/;

/** Reads a text to its end. */
class Reader {
  levels: Level[] = [{ indent: -2, part: null, keys: new Set() }];
  isValue = false;
  /** How many braces and brackets are open. */
  #depth = 0;

  get top(): Level {
    return this.levels.at(-1)!;
  }

  line(line: string, isLast: boolean): void {
    const content = line.trimStart();
    if (this.#depth > 0) return this.#flow(content);
    if (!isLast && (content === '' || content.startsWith('#'))) return;
    this.isValue = false;
    this.#block(line.length - content.length, content);
  }

  #block(start: number, line: string): void {
    let indent = start;
    let content = line;
    // the items of a list may be indented no deeper than its key
    const keepsKey = DASH.test(content);
    const isOutside = ({ indent: of, part }: Level): boolean =>
      of > start || (of === start && (part === 0 || !keepsKey));
    while (isOutside(this.top)) this.levels.pop();
    for (let dash = DASH.exec(content); dash !== null; dash = DASH.exec(content)) {
      this.#push(indent, 0);
      indent += Math.max(2, dash[0].length);
      content = content.slice(dash[0].length);
    }
    const key = KEY.exec(content);
    if (key === null) return this.#flow(content);
    this.#push(indent, key[1] ?? key[2] ?? key[3]!);
    this.isValue = true;
    this.#flow(content.slice(key[0].length));
  }

  #push(indent: number, part: string | 0): void {
    if (part !== 0) this.top.keys.add(part);
    this.levels.push({ indent, part, keys: new Set() });
  }

  /** Reads the text after a key, which may be a mapping in braces or a list in brackets. */
  #flow(text: string): void {
    for (let rest = text.trimStart(); rest !== '' && !rest.startsWith('#'); rest = rest.trimStart()) {
      const quoted = /^(?:"(?:[^"\\]|\\.)*"|'[^']*')(?!\s*:)/.exec(rest);
      const key = this.#depth > 0 && quoted === null ? KEY.exec(rest) : null;
      if (key === null) this.#sign(rest[0]!);
      else {
        this.#push(-1, key[1] ?? key[2] ?? key[3]!);
        this.isValue = true;
      }
      const length = key?.[0].length ?? quoted?.[0].length ?? /^[\w.$-]+/.exec(rest)?.[0].length;
      rest = rest.slice(length ?? 1);
    }
  }

  /** Takes a brace, a bracket or a comma. Any other character is a part of a value. */
  #sign(sign: string): void {
    if (sign === '{' || sign === '[') {
      this.#depth += 1;
      this.levels.push({ indent: -1, part: sign === '[' ? 0 : null, keys: new Set() });
      this.isValue = false;
    } else if (this.#depth > 0 && '}],'.includes(sign)) {
      this.#leaveKey();
      this.isValue = sign !== ',';
      if (sign === ',') return;
      this.levels.pop();
      this.#depth -= 1;
    }
  }

  /** Ends the value of a key in braces. */
  #leaveKey(): void {
    if (this.top.indent === -1 && typeof this.top.part === 'string') this.levels.pop();
  }
}

export function placeAt(text: string, offset: number): YamlPlace {
  const before = text.slice(0, offset);
  const [word = ''] = LAST_WORD.exec(before) ?? [];
  const reader = new Reader();
  const lines = before.slice(0, before.length - word.length).split('\n');
  for (const [index, line] of lines.entries()) reader.line(line, index === lines.length - 1);
  return {
    path: reader.levels.map(({ part }) => part).filter((part) => part !== null),
    siblings: reader.top.keys,
    word,
    isValue: reader.isValue,
  };
}
