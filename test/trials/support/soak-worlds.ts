import assert from 'node:assert/strict';
import { clientOf } from '../../support/sandbox.ts';
import type { Model } from '../../support/world/model.ts';
import {
  assertMatchesModel,
  newModel,
  nextMove,
  type ModelWorld,
  type RealWorld,
} from '../../support/world/world-moves.ts';
import type { Soak } from './soak.ts';

const MOVES_A_LIFE = 400;

const REFERENCES = Array.from({ length: 12 }, (_, nth) => `order-${nth}`);

/** One client at a time makes any move, faults included, and compares each response with a model. */
export async function modelledWorld(soak: Soak, key: string): Promise<Model> {
  const random = soak.random(key);
  const { sandbox } = soak;
  const realWorld: RealWorld = { client: clientOf(sandbox.world(key)), snapshot: null };
  const modelWorld: ModelWorld = { model: newModel(), kept: null };
  const latest: string[] = [];
  for (let nth = 1; !soak.isOver(); nth += 1) {
    const move = nextMove(random, REFERENCES);
    latest.push(move.name);
    if (latest.length > 30) latest.shift();
    try {
      const expected = move.predict(modelWorld);
      assert.deepEqual(await soak.patiently(() => move.ask(realWorld)), expected);
      if (random.oneIn(40)) await assertMatchesModel(realWorld.client, modelWorld.model);
    } catch (error) {
      throw new Error(`${key}, move ${nth}, after: ${latest.join('; ')}`, { cause: error });
    }
    soak.count('moves');
    soak.count(move.name.split(' ')[0]!);
    if (nth % MOVES_A_LIFE > 0) continue;
    const { id } = await realWorld.client.world.summary();
    await sandbox.dropWorld(id); // the next request of the key opens a new world
    modelWorld.model = newModel();
    soak.count('dropped');
  }
  await assertMatchesModel(realWorld.client, modelWorld.model);
  return modelWorld.model;
}

/** Reads the events of a world until the time is over. Their ids must be without gaps, also across reconnects. */
export async function watchedWorld(soak: Soak, key: string): Promise<void> {
  const world = soak.sandbox.world(key);
  let last: { readonly epoch: string; readonly position: number } | null = null;
  while (!soak.isOver()) {
    const after = last === null ? {} : { after: `${last.epoch}-${last.position}` };
    try {
      for await (const { id, type } of await world.events({ ...after, signal: soak.over })) {
        const [epoch, position] = id.split('-') as [string, string];
        const follows = last === null || last.epoch !== epoch || last.position + 1 === Number(position);
        assert.ok(follows || type === 'missed', `${key}: ${id} after ${last?.position}`);
        last = { epoch, position: Number(position) };
        soak.count('events');
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      if (!soak.isOver()) soak.count('event streams cut'); // the reader was too slow, or its world was dropped
    }
  }
}
