import { isMap, isScalar, isSeq, visit, type Document, type Node, type YAMLMap } from 'yaml';
import type { Path } from '../contract/shape-issues.ts';

interface Entry {
  readonly keyOffset: number;
  readonly value: unknown;
}

const offsetOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];

/**
 * Where the values of a YAML document stand in its text. The entries of each mapping are indexed at its first use, so that
 * placing a problem takes as many steps as its path is long, whatever the size of the mapping.
 */
export class YamlPlaces {
  readonly #document: Document;
  readonly #entries = new Map<YAMLMap, Map<string, Entry>>();

  constructor(document: Document) {
    this.#document = document;
  }

  /**
   * The offset at which the value at a path begins, or the nearest value above it that there is.
   *
   * @param key the offset of this key of the mapping at the path, instead of that of the mapping
   */
  offset(path: Path, key?: string): number {
    let node: unknown = this.#document.contents;
    let offset = offsetOf(node) ?? 0;
    for (const part of path) {
      const entry = isMap(node) ? this.#entriesOf(node).get(String(part)) : undefined;
      node = isSeq(node) ? node.items[Number(part)] : entry?.value;
      if (offsetOf(node) === undefined) return offset;
      offset = offsetOf(node)!;
    }
    return key !== undefined && isMap(node) ? (this.#entriesOf(node).get(key)?.keyOffset ?? offset) : offset;
  }

  /** The offsets of the keys that their mapping already has. The parser would compare each key with all the others. */
  repeatedKeys(): readonly number[] {
    const repeated: number[] = [];
    visit(this.#document, {
      Map: (_key, map) => {
        const seen = new Set<unknown>();
        for (const { key } of map.items) {
          if (!isScalar(key)) continue;
          if (seen.has(key.value)) repeated.push(offsetOf(key) ?? 0);
          seen.add(key.value);
        }
      },
    });
    return repeated;
  }

  #entriesOf(map: YAMLMap): Map<string, Entry> {
    let entries = this.#entries.get(map);
    if (entries === undefined) {
      entries = new Map();
      for (const { key, value } of map.items) {
        if (isScalar(key)) entries.set(String(key.value), { keyOffset: offsetOf(key) ?? 0, value });
      }
      this.#entries.set(map, entries);
    }
    return entries;
  }
}
