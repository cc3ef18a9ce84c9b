import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ATTACK_SEED, ATTACKS, saySeed } from './support/attack/attack-size.ts';
import { ADMIN_TOKEN, allThatComes, startTarget, type Target } from './support/attack/attack-target.ts';
import {
  hostileRequests,
  PLAIN_KEYS,
  WILD_KEYS,
  type HostileRequest,
} from './support/attack/hostile-json.ts';
import { answersIn } from '../support/http/http-responses.ts';
import { expectMoneyHolds } from './support/money-of-worlds.ts';
import { expectPublished, publishedCalls, type PublishedCall } from './support/published-shapes.ts';

const AT_ONCE = 50;

const isStream = ({ call }: HostileRequest): boolean => call.path.endsWith('/events');
const isService = ({ call }: HostileRequest): boolean => !call.path.startsWith('/_sandbox');
/** Asked of a world whose rules may break connections, or of a scenario with other words for its errors. */
const isOrdered = (request: HostileRequest): boolean =>
  isService(request) &&
  (WILD_KEYS.includes(request.key) || /x-sandbox-scenario: [a-z]/i.test(request.bytes.toString('latin1')));

/** Sends a request, and checks the response against the OpenAPI document. @returns the status; null where a rule may order anything */
async function statusOf(
  { open }: Target,
  request: HostileRequest,
  othersWereServed: Promise<void>,
): Promise<number | null> {
  const socket = open();
  const came = allThatComes(socket, JSON.stringify(request.bytes.toString('latin1')));
  if (isStream(request)) socket.once('data', () => socket.destroy());
  socket.write(request.bytes);
  if (isOrdered(request)) void othersWereServed.then(() => socket.destroy()); // a delay may last an hour
  const bytes = await came;
  if (isOrdered(request)) return null;
  const [answer, ...more] = answersIn(bytes, isStream(request));
  if (answer === undefined && isStream(request) && bytes.length > 0) return 200;
  if (answer === undefined || more.length > 0)
    throw new Error(`not one response: ${bytes.toString('latin1', 0, 500)}`);
  try {
    expectPublished(answer, request.call);
    return answer.status;
  } catch (error) {
    const [asked, answered] = [request.bytes, bytes].map((each) => each.toString('latin1', 0, 2000));
    throw new Error(`${asked}\n\nwas answered\n\n${answered}\n\n${String(error)}`, { cause: error });
  }
}

test('any request to any route gets a documented response, and other clients are served meanwhile', async () => {
  saySeed();
  const target = await startTarget();
  const calls = await publishedCalls(target.url);
  const taken = new Set<PublishedCall>();
  const refused = new Set<PublishedCall>();
  const attack = (seed: number): Promise<void> =>
    fc.assert(
      fc.asyncProperty(
        fc.array(hostileRequests(calls, ADMIN_TOKEN), { minLength: AT_ONCE, maxLength: AT_ONCE }),
        async (requests) => {
          const served = target.honest.isServed();
          const [answered] = await Promise.all([
            Promise.all(
              requests.map(async (request) => ({ request, status: await statusOf(target, request, served) })),
            ),
            served,
          ]);
          for (const { request, status } of answered) {
            if (status !== null) (status < 400 ? taken : refused).add(request.call);
          }
        },
      ),
      { seed, numRuns: Math.ceil(ATTACKS / AT_ONCE), endOnFailure: true },
    );
  let seed = ATTACK_SEED;
  do await attack(seed++);
  while (refused.size < calls.length); // else it was no attack
  await expectMoneyHolds(target.url, [...PLAIN_KEYS, ...WILD_KEYS, 'sk_test_honest']);
  expect(taken.size).toBeGreaterThan(calls.length * 0.8); // else none came far
  await target.stop();
});
