import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { connectSandbox, type World } from '../../src/index.ts';
import { MEBIBYTE, startTarget, type Target } from './support/attack/attack-target.ts';
import { answersOn, payRequest, rawRequest } from '../support/http/raw-socket.ts';

const EVENTUALLY = { timeout: 120_000, interval: 20 };
const AUTHORIZATION = { authorization: 'Bearer sk_test_flood' };
const JSON_BODY = { ...AUTHORIZATION, 'content-type': 'application/json' };

const times = <T>(count: number, make: (nth: number) => T): T[] =>
  Array.from({ length: count }, (_, nth) => make(nth));

const BALANCE = rawRequest('GET /client/fetchbalance', AUTHORIZATION);
const MANY = BALANCE.toString().repeat(5000);

/** How many requests a client may send ahead of their responses. */
const MOST_AHEAD = 100;

const worldOf = ({ url }: Target): World => connectSandbox({ url }).world('sk_test_flood');

/** Sends requests, a hundred ahead of their responses, and reads these. @returns how many have such a head */
async function answersTo(
  { open }: Target,
  requests: readonly Buffer[],
  head: RegExp = /HTTP\/1\.1 200 OK/,
): Promise<number> {
  let answered = 0;
  for (let from = 0; from < requests.length; from += MOST_AHEAD) {
    const group = requests.slice(from, from + MOST_AHEAD);
    const socket = open();
    const answers = answersOn(socket, group.length);
    socket.write(Buffer.concat(group));
    answered += (await answers).split(head).length - 1;
    socket.destroy();
  }
  return answered;
}

/** Waits until all that was sent has been taken in, or its connection was ended. */
const untilTaken = async (_target: Target, isTaken: () => boolean): Promise<void> => {
  await expect.poll(isTaken, EVENTUALLY).toBe(true);
};

/** Waits until no more than the limit of connections are left. */
const atMost =
  (limit: number) =>
  async ({ connections }: Target): Promise<void> => {
    await expect.poll(connections, EVENTUALLY).toBeLessThanOrEqual(limit);
  };

/** Connections on which something was sent, and nothing is ever read. */
const thatNeverRead = ({ open }: Target, count: number, bytes: (nth: number) => Buffer | string): Socket[] =>
  times(count, (nth) => {
    const socket = open();
    socket.pause();
    socket.write(bytes(nth));
    return socket;
  });

/**
 * Attacks a new target twice, so that nothing of the first time is kept. The honest are served while it lasts, and no connection is left.
 *
 * @param settings of the target; without a log, since a flood of log lines is the story of another test
 * @param holds what is true while it lasts; its argument says whether everything sent has been accepted or refused
 * @param rounds once is enough for an attack of half a minute that leaves hardly anything to keep
 * @returns how many MiB of memory the process took at most, beside what it takes when idle
 */
async function peakOf(
  settings: Readonly<Record<string, string>>,
  attack: (target: Target) => readonly Socket[] | Promise<readonly Socket[]>,
  holds: (target: Target, isTaken: () => boolean) => Promise<unknown> = () => Promise.resolve(),
  rounds = 2,
): Promise<number> {
  const target = await startTarget({ SANDBOX_LOG_LEVEL: 'warn', ...settings });
  const idle = target.memory();
  let peak = 0;
  const look = (): void => {
    peak = Math.max(peak, target.memory() - idle);
  };
  for (let round = 0; round < rounds; round += 1) {
    const sockets = await attack(target);
    const isTaken = (): boolean => sockets.every((socket) => socket.destroyed || socket.writableLength === 0);
    for (let nth = 0; nth < 5; nth += 1) {
      await target.honest.isServed();
      look();
    }
    await holds(target, isTaken);
    look();
    for (const socket of sockets) socket.destroy();
    await expect.poll(target.connections, EVENTUALLY).toBeLessThan(20); // those of the honest
    await target.honest.isServed();
    look();
  }
  await target.stop();
  return peak;
}

test('a connection beyond the bound ends the one that was idle longest, and is served', async () => {
  const attack = ({ open }: Target) => times(2000, () => open());
  const peak = await peakOf({ SANDBOX_MAX_CONNECTIONS: '200' }, attack, atMost(200));
  expect(peak).toBeLessThan(100);
});

test('the largest headers and bodies on all connections stay within the stated memory', async () => {
  const head = rawRequest('POST /payout/initiate', {
    ...JSON_BODY,
    'x-long': 'x'.repeat(15_000),
    'content-length': '65536',
  });
  const asked = Buffer.concat([head, Buffer.alloc(65_000, ' ')]);
  const attack = (target: Target) => thatNeverRead(target, 800, () => asked);
  const peak = await peakOf({ SANDBOX_MAX_CONNECTIONS: '500' }, attack, atMost(500));
  expect(peak).toBeLessThan(200); // 96 KiB for each, and what the engine keeps for later
});

test('bodies in chunks of one byte take no more memory than other bodies', async () => {
  const head = rawRequest('POST /payout/initiate', { ...JSON_BODY, 'transfer-encoding': 'chunked' });
  const chunks = '1\r\n \r\n'.repeat(60_000);
  const peak = await peakOf({}, (target) => thatNeverRead(target, 60, () => head + chunks));
  expect(peak).toBeLessThan(200);
});

test('bodies that are too large, or never end, are not kept', async () => {
  const endless = rawRequest('PUT /_sandbox/state', { ...JSON_BODY, 'transfer-encoding': 'chunked' });
  const long = { ...JSON_BODY, 'content-length': String(200 * MEBIBYTE) };
  const giant = rawRequest('PUT /_sandbox/state', long);
  const large = rawRequest('POST /payout/initiate', long);
  const mebibyte = Buffer.alloc(MEBIBYTE, '[');
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), mebibyte, Buffer.from('\r\n')]);
  const peak = await peakOf(
    {},
    ({ open }) =>
      times(9, (nth) => {
        const socket = open();
        socket.resume().write([endless, giant, large][nth % 3]!);
        for (let sent = 0; sent < 120; sent += 1) socket.write(nth % 3 === 0 ? chunk : mebibyte);
        return socket;
      }),
    untilTaken,
  );
  expect(peak).toBeLessThan(900);
});

test('objects and lists of millions of items are refused without harm', async () => {
  const bodies = [
    `{${times(1_000_000, (nth) => `"key-${nth}":0`).join(',')}}`,
    `[${times(6_000_000, () => '[]').join(',')}]`,
    `[${times(2_000_000, (nth) => `{"${nth}":0}`).join(',')}]`,
  ];
  const peak = await peakOf({}, async ({ url }) => {
    for (const body of bodies) {
      const put = { method: 'PUT', headers: JSON_BODY, body };
      const { status } = await fetch(`${url}/_sandbox/state`, put);
      expect([400, 422]).toContain(status);
    }
    return [];
  });
  expect(peak).toBeLessThan(700);
});

test('thousands of pipelined requests get their responses, also when some clients never read their responses', async () => {
  const asked = times(5000, () => BALANCE);
  const peak = await peakOf({}, async (target) => {
    expect(await answersTo(target, asked)).toBe(5000);
    return thatNeverRead(target, 20, () => MANY);
  });
  expect(peak).toBeLessThan(400);
});

test('as many on hundreds of connections do not end a process with a small heap', async () => {
  const attack = (target: Target) => thatNeverRead(target, 300, () => MANY);
  const peak = await peakOf({ NODE_OPTIONS: '--max-old-space-size=512' }, attack, undefined, 1);
  expect(peak).toBeLessThan(400);
});

test('thousands of hanging requests, on many connections and on few, stay within the stated memory', async () => {
  const attack = async (target: Target) => {
    await worldOf(target).rule({ name: 'hung', effect: { fault: 'hang' } });
    const onMany = thatNeverRead(target, 450, () => BALANCE); // all of them stay: a limit ends none that is served
    return onMany.concat(thatNeverRead(target, 10, () => MANY.repeat(4)));
  };
  const peak = await peakOf({ SANDBOX_MAX_CONNECTIONS: '500' }, attack, untilTaken);
  expect(peak).toBeLessThan(700);
});

test('clients that never read long responses are cut off at the limit for unread responses', async () => {
  const body = 'x'.repeat(50_000);
  const rule = { match: { client_ref_id: 'never' }, effect: { respond: { status: 200, body } } };
  const paths = ['requests?limit=1000', 'state', 'rules', 'events'];
  const asked = paths.map((path) => rawRequest(`GET /_sandbox/${path}`, AUTHORIZATION).toString());
  const peak = await peakOf({}, async (target) => {
    const world = worldOf(target);
    for (let nth = 0; nth < 30; nth += 1) await world.rule({ name: `r${nth}`, ...rule });
    for (let nth = 0; nth < 70; nth += 1) await world.pay({ client_ref_id: `order-${nth}`, remarks: body });
    return thatNeverRead(target, 300, (nth) => asked[nth % 4]!.repeat(200));
  });
  expect(peak).toBeLessThan(1000);
});

test('a hundred thousand different keys never make more worlds than the bound', async () => {
  const KEYS = 50_000; // and as many in the second round
  const AT_ONCE = 500; // fewer than the worlds: the honest one is never the idlest
  let made = 0;
  const asked = (): Buffer => {
    made += 1;
    const headers = { authorization: `Bearer sk_test_invented_${made}` };
    return rawRequest('GET /client/fetchbalance', headers);
  };
  const peak = await peakOf(
    { SANDBOX_MAX_WORLDS: '1000' },
    async (target) => {
      for (let nth = 0; nth < KEYS / AT_ONCE; nth += 1) {
        expect(await answersTo(target, times(AT_ONCE, asked))).toBe(AT_ONCE);
        await target.honest.isServed();
      }
      return [];
    },
    async ({ url }) => {
      const metrics = await (await fetch(`${url}/_sandbox/metrics`)).text();
      expect(Number(/^payout_sandbox_worlds (\d+)$/m.exec(metrics)![1])).toBeLessThanOrEqual(1000);
    },
  );
  expect(peak).toBeLessThan(300);
});

test.each<[string, number, (nth: number) => { key: string; change: object }]>([
  [
    'bodies of 60 KB to eight worlds',
    4000,
    (nth) => ({ key: `sk_test_one_of_${nth % 8}`, change: { more: 'x'.repeat(60_000) } }),
  ],
  ['payouts of 8,000 worlds', 8000, (nth) => ({ key: `sk_test_one_of_${nth}`, change: {} })],
  [
    'more payouts than fit, with long texts of two bytes a character,',
    30_000,
    (nth) => ({ key: `sk_test_one_of_${nth % 80}`, change: { beneficiary_name: 'ख'.repeat(100) } }),
  ],
])('with the default settings, %s do not end a process with a small heap', async (_what, count, made) => {
  const target = await startTarget({ SANDBOX_LOG_LEVEL: 'warn', NODE_OPTIONS: '--max-old-space-size=96' });
  const AT_ONCE = 100;
  for (let sent = 0; sent < count; sent += AT_ONCE) {
    const requests = times(AT_ONCE, (nth) => {
      const { key, change } = made(sent + nth);
      const payout = { client_ref_id: `p${sent + nth}`, amount: 1, ...change };
      return payRequest(key, payout);
    });
    expect(await answersTo(target, requests, /HTTP\/1\.1 (?:200|503) /)).toBe(AT_ONCE);
  }
  await target.stop();
});
