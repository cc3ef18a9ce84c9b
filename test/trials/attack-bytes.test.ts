import { expect, test } from 'vitest';
import { allThatComes, startTarget, type Target } from './support/attack/attack-target.ts';
import { hostileBytes, type HostileBytes } from './support/attack/hostile-bytes.ts';
import { attackWith, checked } from './support/attack/random-attack.ts';
import { answersIn } from '../support/http/http-responses.ts';
import { expectMoneyHolds } from './support/money-of-worlds.ts';
import { expectPublished, publishedCalls, type PublishedCall } from './support/published-shapes.ts';

/** Writes the bytes, and ends the connection once the sandbox has had its turn with them. */
async function statusesOf(
  { open }: Target,
  { pieces, hasHead }: HostileBytes,
  hadItsTurn: Promise<void>,
  calls: readonly PublishedCall[],
): Promise<readonly number[]> {
  const socket = open();
  const sent = Buffer.concat(pieces);
  const came = allThatComes(socket, JSON.stringify(sent.toString('latin1')));
  for (const piece of pieces) socket.write(piece);
  await hadItsTurn;
  socket.end();
  const bytes = await came;
  return checked(sent, bytes, () => {
    const answers = answersIn(bytes, true, hasHead);
    // the response to a HEAD has no body
    for (const answer of answers) if (answer.body !== '') expectPublished(answer, calls);
    return answers.map(({ status }) => status);
  });
}

/** What an attack must have met. */
const STATUSES = [200, 400, 401, 404, 405, 431];

test('any bytes on a connection get an HTTP response or none, and other clients are served meanwhile', async () => {
  const target = await startTarget();
  const calls = await publishedCalls(target.url);
  const targets = calls.map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x'));
  const seen = new Set<number>();
  await attackWith(
    hostileBytes(targets),
    async (attacks) => {
      const served = target.honest.isServed();
      const statuses = await Promise.all(attacks.map((bytes) => statusesOf(target, bytes, served, calls)));
      for (const status of statuses.flat()) seen.add(status);
      await served;
    },
    () => STATUSES.every((status) => seen.has(status)),
  );
  await expectMoneyHolds(target.url, ['sk_test_bytes', 'sk_test_other', 'sk_test_honest']);
  expect([...seen]).toEqual(expect.arrayContaining(STATUSES)); // else it was no attack
  await target.stop();
});
