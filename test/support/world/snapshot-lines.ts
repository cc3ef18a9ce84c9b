import type { WorldHead, WorldItem } from '../../../src/contract/snapshot.ts';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

type ItemOf<Name extends string> =
  Extract<WorldItem, { readonly [Key in Name]: unknown }> extends { readonly [Key in Name]: infer Item }
    ? Item
    : never;

/** A world in a snapshot or a state file. */
export interface SnapshotWorld {
  readonly id: string;
  readonly head: WorldHead;
  readonly entries: readonly ItemOf<'entry'>[];
  readonly payouts: readonly ItemOf<'payout'>[];
  readonly rules: readonly ItemOf<'rule'>[];
  readonly uses: readonly ItemOf<'use'>[];
  readonly attempts: readonly ItemOf<'attempts'>[];
  readonly refused: readonly ItemOf<'refused'>[];
  readonly requests: readonly ItemOf<'request'>[];
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The lines of a snapshot, without line breaks. */
export const linesOf = (text: string): string[] => {
  assert.ok(text.endsWith('\n'), 'every line ends with a line break');
  return text.slice(0, -1).split('\n');
};

/**
 * The worlds of a snapshot or a state file, parsed without the code of the sandbox.
 *
 * @throws AssertionError for an incomplete text
 */
export function worldsIn(text: string): readonly SnapshotWorld[] {
  const lines = linesOf(text);
  const worlds: SnapshotWorld[] = [];
  assert.equal(lines.shift(), '{"format":"payout-sandbox","version":6}');
  assert.equal(lines.pop(), `{"worlds":${lines.filter((line) => line.startsWith('{"end":')).length}}`);
  while (lines.length > 0) {
    const end = lines.findIndex((line) => line.startsWith('{"end":'));
    const ofWorld = lines.splice(0, end + 1);
    const { end: ended, checksum } = JSON.parse(ofWorld.pop()!) as { end: string; checksum: string };
    assert.equal(sha256(ofWorld.map((line) => `${line}\n`).join('')), checksum);
    const [head, ...items] = ofWorld.map((line) => JSON.parse(line) as unknown) as [
      WorldHead,
      ...WorldItem[],
    ];
    assert.equal(head.world, ended);
    const all = <Name extends string>(name: Name): ItemOf<Name>[] =>
      items.flatMap((item) =>
        name in item ? [(item as Record<string, unknown>)[name] as ItemOf<Name>] : [],
      );
    worlds.push({
      id: head.world,
      head,
      entries: all('entry'),
      payouts: all('payout'),
      rules: all('rule'),
      uses: all('use'),
      attempts: all('attempts'),
      refused: all('refused'),
      requests: all('request'),
    });
  }
  return worlds;
}

/** A request without what depends on the wire: its id, its times, and the headers that name them. */
const decidedIn = ({
  requestId: _id,
  wallMs: _wallMs,
  durationMs: _ms,
  headers: _headers,
  response,
  ...request
}: ItemOf<'request'>) => ({ ...request, response: response && { ...response, headers: null } });

/** The only world of a snapshot, without what does not affect its future: its id and the wall time. */
export function futureIn(text: string): object {
  const [world, ...others] = worldsIn(text);
  assert.equal(others.length, 0);
  const { id: _id, head, requests, ...items } = world!;
  const { world: _world, wallMs: _wallMs, ...rest } = head;
  return { ...items, requests: requests.map(decidedIn), head: rest };
}

/** A changed snapshot of one world, with a checksum that matches again. */
export function resealed(text: string): string {
  const lines = linesOf(text);
  const [end, last] = lines.splice(-2) as [string, string];
  const [, ...ofWorld] = lines;
  const checksum = sha256(ofWorld.map((line) => `${line}\n`).join(''));
  const sealed = JSON.stringify({ ...(JSON.parse(end) as object), checksum });
  return `${[...lines, sealed, last].join('\n')}\n`;
}
