import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ATTACK_SEED, ATTACKS, saySeed } from './support/attack/attack-size.ts';
import { allThatComes, startTarget, type Target } from './support/attack/attack-target.ts';
import { hostileBytes, type HostileBytes } from './support/attack/hostile-bytes.ts';
import { answersIn } from '../support/http/http-responses.ts';
import { expectMoneyHolds } from './support/money-of-worlds.ts';
import { expectAnyShape, publishedCalls, type PublishedCall } from './support/published-shapes.ts';

const AT_ONCE = 50;

/** Writes the bytes, and ends the connection once the sandbox has had its turn with them. */
async function statusesOf(
  { open }: Target,
  { pieces, hasHead }: HostileBytes,
  hadItsTurn: Promise<void>,
  calls: readonly PublishedCall[],
): Promise<readonly number[]> {
  const socket = open();
  const what = JSON.stringify(Buffer.concat(pieces).toString('latin1'));
  const came = allThatComes(socket, what);
  for (const piece of pieces) socket.write(piece);
  await hadItsTurn;
  socket.end();
  const bytes = await came;
  try {
    const answers = answersIn(bytes, true, hasHead);
    for (const answer of answers) expectAnyShape(answer, calls);
    return answers.map(({ status }) => status);
  } catch (error) {
    throw new Error(`${what}\n\nwas answered\n\n${bytes.toString('latin1', 0, 2000)}\n\n${String(error)}`, {
      cause: error,
    });
  }
}

/** What an attack must have met. */
const STATUSES = [200, 400, 401, 404, 405, 431];

test('any bytes on a connection get an HTTP response or none, and other clients are served meanwhile', async () => {
  saySeed();
  const target = await startTarget();
  const calls = await publishedCalls(target.url);
  const targets = calls.map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x'));
  const seen = new Set<number>();
  const attack = (seed: number): Promise<void> =>
    fc.assert(
      fc.asyncProperty(
        fc.array(hostileBytes(targets), { minLength: AT_ONCE, maxLength: AT_ONCE }),
        async (attacks) => {
          const served = target.honest.isServed();
          const statuses = await Promise.all(
            attacks.map((bytes) => statusesOf(target, bytes, served, calls)),
          );
          for (const status of statuses.flat()) seen.add(status);
          await served;
        },
      ),
      { seed, numRuns: Math.ceil(ATTACKS / AT_ONCE), endOnFailure: true },
    );
  let seed = ATTACK_SEED;
  do await attack(seed++);
  while (!STATUSES.every((status) => seen.has(status)));
  await expectMoneyHolds(target.url, ['sk_test_bytes', 'sk_test_other', 'sk_test_honest']);
  expect([...seen]).toEqual(expect.arrayContaining(STATUSES)); // else it was no attack
  await target.stop();
});
