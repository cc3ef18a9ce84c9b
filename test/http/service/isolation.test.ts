import { expect, test } from 'vitest';
import { sandboxFor, type Client } from '../../support/sandbox.ts';
import { START } from '../../support/world/ways-in.ts';

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
