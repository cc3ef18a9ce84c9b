import { expect, test } from 'vitest';
import { ADMIN_TOKEN, allThatComes, startTarget, type Target } from './support/attack/attack-target.ts';
import {
  hostileRequests,
  PLAIN_KEYS,
  WILD_KEYS,
  type HostileRequest,
} from './support/attack/hostile-json.ts';
import { attackWith, checked } from './support/attack/random-attack.ts';
import { answersIn } from '../support/http/http-responses.ts';
import { expectMoneyHolds } from './support/money-of-worlds.ts';
import { expectPublished, publishedCalls, type PublishedCall } from './support/published-shapes.ts';

const isStream = ({ call }: HostileRequest): boolean => call.path.endsWith('/events');
const isService = ({ call }: HostileRequest): boolean => !call.path.startsWith('/_sandbox');
/** Asked of a world whose rules may break connections. */
const isOrdered = (request: HostileRequest): boolean => isService(request) && WILD_KEYS.includes(request.key);

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
  return checked(request.bytes, bytes, () => {
    expectPublished(answer, [request.call]);
    return answer.status;
  });
}

test('any request to any route gets a documented response, and other clients are served meanwhile', async () => {
  const target = await startTarget();
  const calls = await publishedCalls(target.url);
  const taken = new Set<PublishedCall>();
  const refused = new Set<PublishedCall>();
  await attackWith(
    hostileRequests(calls, ADMIN_TOKEN),
    async (requests) => {
      const served = target.honest.isServed();
      const statuses = await Promise.all(requests.map((request) => statusOf(target, request, served)));
      await served;
      for (const [nth, status] of statuses.entries()) {
        if (status !== null) (status < 400 ? taken : refused).add(requests[nth]!.call);
      }
    },
    () => refused.size === calls.length, // else it was no attack
  );
  await expectMoneyHolds(target.url, [...PLAIN_KEYS, ...WILD_KEYS, 'sk_test_honest']);
  expect(taken.size).toBeGreaterThan(calls.length * 0.8); // else none came far
  await target.stop();
});
