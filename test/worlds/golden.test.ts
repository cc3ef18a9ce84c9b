import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readWorlds, snapshotText } from '../../src/worlds/snapshot-text.ts';
import { brokenInvariants } from '../../src/world/ledger.ts';
import { sentResponse } from '../../src/world/request/response.ts';
import { takeSnapshot } from '../../src/world/snapshot.ts';
import type { WorldState } from '../../src/world/state-shape.ts';
import { compiler, logFor, START_MS } from '../support/world/core.ts';

const GOLDEN = join(import.meta.dirname, 'golden/version-6.ndjson');

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function stateIn(text: string): Promise<WorldState> {
  const { wallClock } = logFor();
  const options = { compiler, wallClock, maxLine: 100_000 };
  const worlds = await all(readWorlds(bytesOf(text), options));
  expect(worlds).toHaveLength(1);
  return worlds[0]!.state;
}

test('a snapshot of version 6 that an earlier sandbox wrote is read with its requests and what its client was told, and written again byte for byte', async () => {
  const text = readFileSync(GOLDEN, 'utf8');
  const state = await stateIn(text);
  const chunks = await all(snapshotText([takeSnapshot(state)]));
  expect(chunks.join('')).toBe(text);
  expect(brokenInvariants(state)).toEqual([]);
  expect(state.name).toBe('checkout: a bad day');
  expect(state.index.atRisk).toEqual({ count: 2, paise: 20_100 });
  expect(state.payouts.map(({ clientRefId, state: is, told }) => [clientRefId, is, told])).toEqual([
    ['settled', 'SUCCESS', { request: 6, atMs: START_MS + 3000, as: 'SUCCESS' }],
    ['lost', 'PENDING', null],
    ['slow', 'PENDING', null],
  ]);
  const { count, evicted, list } = state.requests;
  expect([count, evicted]).toEqual([8, 0]);
  const shown = list.map((one) => [one.nth, one.outcome, one.rule, sentResponse(one)?.status]);
  expect(shown).toEqual([
    [3, 'answered', undefined, 200],
    [4, 'answered', 'golden/lost', 500],
    [5, 'pending', 'golden/slow', 200],
    [6, 'answered', undefined, 200],
    [7, 'client_gone', 'world/top', undefined],
    [8, 'answered', undefined, 400],
  ]);
});
