import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { sandboxFor, type Client } from '../../support/sandbox.ts';
import { sized } from '../../support/size.ts';
import { START } from '../../support/world/ways-in.ts';
import { Random } from '../../support/world/random.ts';
import { assertMatchesModel, newModel, nextMove, OPENING_PAISE } from '../../support/world/world-moves.ts';

const WORLDS = sized(4, 200);
const MOVES = 40;
const OPENING_BALANCE = String(OPENING_PAISE / 100);
const REFERENCES = ['a', 'b', 'c'];

/** What one test does in its world: any moves, of which each must do what a model of this world alone predicts. */
async function moveAlone(client: Client, nth: number): Promise<void> {
  const realWorld = { client, snapshot: null };
  const modelWorld = { model: newModel(), kept: null };
  const random = new Random('isolation', String(nth));
  for (let made = 0; made < MOVES; made += 1) {
    const move = nextMove(random, REFERENCES);
    const expected = move.predict(modelWorld);
    assert.deepEqual(await move.ask(realWorld), expected, `world ${nth}: ${move.name}`);
  }
  await assertMatchesModel(client, modelWorld.model);
}

test(`${WORLDS} tests at once share one sandbox without affecting each other`, async () => {
  const { client } = await sandboxFor({ clock: START, openingBalance: OPENING_BALANCE });
  const clients = Array.from({ length: WORLDS }, () => client());
  await Promise.all(clients.map(moveAlone));
  const ids = await Promise.all(clients.map(async ({ world }) => (await world.summary()).id));
  expect(new Set(ids).size).toBe(WORLDS);
});

test('the same requests in five worlds at once give the same bytes, except for the ids', async () => {
  const { client } = await sandboxFor({ clock: START });
  const story = async ({ pay, clock, world }: Client) => {
    await pay({ amount: 10 });
    await pay({ client_ref_id: 'other', amount: 0 });
    await clock.advance('1h');
    await world.fund(5);
    return [await world.entries(), await world.transactions(), await clock.read()];
  };
  const books = await Promise.all(Array.from({ length: 5 }, () => story(client())));
  const withoutIds = (book: unknown) =>
    JSON.stringify(book).replace(/"(txn_id|utr)":"\w+"/g, (_all, name: string) => `"${name}":"-"`);
  expect(new Set(books.map(withoutIds)).size).toBe(1);
  expect(new Set(books.map((book) => JSON.stringify(book))).size).toBe(5);
});
