import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sandboxFor } from '../support/sandbox.ts';
import { START } from '../support/world/ways-in.ts';
import { sized } from '../support/size.ts';
import { Random } from '../support/world/random.ts';
import { assertMatchesModel, newModel, nextMove, OPENING_PAISE } from '../support/world/world-moves.ts';

const REFERENCES = ['a', 'b', 'c'];

/** Any sequence of moves, each from its own draw, so that one that fails can be made shorter. */
const anyMoves = fc
  .array(fc.nat(), { maxLength: 40, size: 'max' })
  .map((draws) => draws.map((draw) => nextMove(new Random(String(draw), 'move'), REFERENCES)));

test('a world behaves like a model of it under any sequence of commands', async () => {
  const { client } = await sandboxFor({ clock: START, openingBalance: String(OPENING_PAISE / 100) });
  const property = fc.asyncProperty(anyMoves, async (moves) => {
    const realWorld = { client: client(), snapshot: null };
    const modelWorld = { model: newModel(), kept: null };
    for (const move of moves) {
      const expected = move.predict(modelWorld);
      assert.deepEqual(await move.ask(realWorld), expected, move.name);
      await assertMatchesModel(realWorld.client, modelWorld.model);
    }
  });
  await expect(fc.assert(property, { numRuns: sized(2, 100) })).resolves.toBeUndefined();
});
