import { yamlLanguage } from '@codemirror/lang-yaml';

/** Where in a YAML text a cursor is. */
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

type SyntaxNode = ReturnType<ReturnType<typeof yamlLanguage.parser.parse>['resolveInner']>;

/** The text to the cursor, the line with the word at the cursor, and the word. */
const LAST_WORD = /^(?:.*\n)?(.*?)([\w.$-]*)$/s;

/** Reads the text before the cursor, whose braces and brackets may be open. */
export function placeAt(text: string, offset: number): YamlPlace {
  const before = text.slice(0, offset);
  const [, line = '', word = ''] = LAST_WORD.exec(before)!;
  // something has to be at the cursor: a key where no key is in its line yet, else a value
  const marked = `${before.slice(0, offset - word.length)}${line.includes(':') ? ' word' : 'word:'}`;
  const keyOf = (pair: SyntaxNode): string => {
    const { from, to } = pair.getChild('Key') ?? pair;
    return marked.slice(from, to).replace(/^(["'])(.*)\1$/, '$2');
  };
  const leaf = yamlLanguage.parser.parse(marked).resolveInner(marked.length - 1, -1);
  const path: (string | 0)[] = [];
  for (let node = leaf; node.parent !== null; node = node.parent) {
    if (node.name === 'Item') path.unshift(0);
    if (node.parent.name === 'Pair' && node.name !== 'Key') path.unshift(keyOf(node.parent));
  }
  const { parent } = leaf;
  const mapping = parent?.name === 'Key' ? parent.parent?.parent : parent;
  return {
    path,
    siblings: new Set(mapping?.getChildren('Pair').map(keyOf)),
    word,
    isValue: parent?.name === 'Pair' || /[\]}"']\s*$/.test(line),
  };
}
