import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { allThatComes, MEBIBYTE, startTarget, type Target } from './support/attack/attack-target.ts';
import { payRequest, rawRequest } from '../support/http/raw-socket.ts';
import { PAYOUT } from '../support/sandbox.ts';

const EVENTUALLY = { timeout: 120_000, interval: 20 };
const QUIET = { LOG_LEVEL: 'warn' }; // a flood of log lines is the story of another test
const AUTHORIZATION = { authorization: 'Bearer sk_test_flood' };
const JSON_BODY = { ...AUTHORIZATION, 'content-type': 'application/json' };

const times = <T>(count: number, make: (nth: number) => T): T[] =>
  Array.from({ length: count }, (_, nth) => make(nth));

const initiate = (change: object): Buffer => payRequest('sk_test_flood', change);

/** Waits until all that was sent has been taken in, or its connection was ended. */
const untilTaken = async (isTaken: () => boolean): Promise<void> => {
  await expect.poll(isTaken, EVENTUALLY).toBe(true);
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
 * Attacks twice, so that nothing of the first time is kept. The honest are served while it lasts, and no connection is left.
 *
 * @param holds what is true while it lasts; its argument says whether everything sent has been accepted or refused
 * @param rounds once is enough for an attack of half a minute that leaves hardly anything to keep
 * @returns how many MiB of memory the process took at most, beside what it takes when idle
 */
async function peakOf(
  target: Target,
  attack: () => Socket[] | Promise<Socket[]>,
  holds: (isTaken: () => boolean) => Promise<unknown> = () => Promise.resolve(),
  rounds = 2,
): Promise<number> {
  const idle = target.memory();
  let peak = 0;
  const look = (): void => {
    peak = Math.max(peak, target.memory() - idle);
  };
  for (let round = 0; round < rounds; round += 1) {
    const sockets = await attack();
    const isTaken = (): boolean => sockets.every((socket) => socket.destroyed || socket.writableLength === 0);
    for (let nth = 0; nth < 5; nth += 1) {
      await target.honest.isServed();
      look();
    }
    await holds(isTaken);
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
  const target = await startTarget({ ...QUIET, SANDBOX_MAX_CONNECTIONS: '200' });
  const peak = await peakOf(
    target,
    () => times(2000, () => target.open()),
    async () => {
      await expect.poll(target.connections, EVENTUALLY).toBeLessThanOrEqual(200);
    },
  );
  expect(peak).toBeLessThan(100);
});

test('the largest headers and bodies on all connections stay within the stated memory', async () => {
  const target = await startTarget({ ...QUIET, SANDBOX_MAX_CONNECTIONS: '500' });
  const head = rawRequest('POST /payout/initiate', {
    ...JSON_BODY,
    'x-long': 'x'.repeat(15_000),
    'content-length': '65536',
  });
  const peak = await peakOf(
    target,
    () => thatNeverRead(target, 800, () => Buffer.concat([head, Buffer.alloc(65_000, ' ')])),
    async () => {
      await expect.poll(target.connections, EVENTUALLY).toBeLessThanOrEqual(500);
    },
  );
  expect(peak).toBeLessThan(200); // 96 KiB for each, and what the engine keeps for later
});

test('bodies in chunks of one byte take no more memory than other bodies', async () => {
  const target = await startTarget(QUIET);
  const head = rawRequest('POST /payout/initiate', { ...JSON_BODY, 'transfer-encoding': 'chunked' });
  const chunks = '1\r\n \r\n'.repeat(60_000);
  const peak = await peakOf(target, () => thatNeverRead(target, 60, () => head + chunks));
  expect(peak).toBeLessThan(200);
});

test('bodies that are too large, or never end, are not kept', async () => {
  const target = await startTarget(QUIET);
  const endless = rawRequest('PUT /_sandbox/state', { ...JSON_BODY, 'transfer-encoding': 'chunked' });
  const giant = rawRequest('PUT /_sandbox/state', { ...JSON_BODY, 'content-length': String(200 * MEBIBYTE) });
  const large = rawRequest('POST /payout/initiate', {
    ...JSON_BODY,
    'content-length': String(200 * MEBIBYTE),
  });
  const mebibyte = Buffer.alloc(MEBIBYTE, '[');
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), mebibyte, Buffer.from('\r\n')]);
  const peak = await peakOf(
    target,
    () =>
      times(9, (nth) => {
        const socket = target.open();
        socket.resume().write([endless, giant, large][nth % 3]!);
        for (let sent = 0; sent < 120; sent += 1) socket.write(nth % 3 === 0 ? chunk : mebibyte);
        return socket;
      }),
    untilTaken,
  );
  expect(peak).toBeLessThan(900);
});

test('objects and lists of millions of items are refused without harm', async () => {
  const target = await startTarget(QUIET);
  const headers = JSON_BODY;
  const bodies = [
    `{${times(1_000_000, (nth) => `"key-${nth}":0`).join(',')}}`,
    `[${times(6_000_000, () => '[]').join(',')}]`,
    `[${times(2_000_000, (nth) => `{"${nth}":0}`).join(',')}]`,
  ];
  const peak = await peakOf(target, async () => {
    for (const body of bodies) {
      const { status } = await fetch(`${target.url}/_sandbox/state`, { method: 'PUT', headers, body });
      expect([400, 422]).toContain(status);
    }
    return [];
  });
  expect(peak).toBeLessThan(700);
});

test('thousands of pipelined requests get their responses, also when some clients never read their responses', async () => {
  const target = await startTarget(QUIET);
  const asked = rawRequest('GET /client/fetchbalance', AUTHORIZATION);
  const peak = await peakOf(target, async () => {
    const reader = target.open();
    reader.write(
      Buffer.concat([
        ...times(4999, () => asked),
        rawRequest('GET /client/fetchbalance', { ...AUTHORIZATION, connection: 'close' }),
      ]),
    );
    const answers = (await allThatComes(reader, 'five thousand requests')).toString('latin1');
    expect(answers.split('HTTP/1.1 200 OK')).toHaveLength(5001);
    return thatNeverRead(target, 20, () => asked.toString().repeat(5000));
  });
  expect(peak).toBeLessThan(400);
});

test('as many on hundreds of connections do not end a process with a small heap', async () => {
  const target = await startTarget({ ...QUIET, NODE_OPTIONS: '--max-old-space-size=512' });
  const asked = rawRequest('GET /client/fetchbalance', AUTHORIZATION).toString().repeat(5000);
  const peak = await peakOf(target, () => thatNeverRead(target, 300, () => asked), undefined, 1);
  expect(peak).toBeLessThan(400);
});

test('thousands of hanging requests, on many connections and on few, stay within the stated memory', async () => {
  const target = await startTarget({ ...QUIET, SANDBOX_MAX_CONNECTIONS: '500' });
  await connectSandbox({ url: target.url })
    .world('sk_test_flood')
    .rule({ effect: { fault: 'hang' } });
  const asked = rawRequest('GET /client/fetchbalance', AUTHORIZATION);
  const peak = await peakOf(
    target,
    () => [
      ...thatNeverRead(target, 800, () => asked),
      ...thatNeverRead(target, 10, () => asked.toString().repeat(20_000)),
    ],
    untilTaken,
  );
  expect(peak).toBeLessThan(700);
});

test('clients that never read long responses are cut off at the limit for unread responses', async () => {
  const target = await startTarget(QUIET);
  const world = connectSandbox({ url: target.url }).world('sk_test_flood');
  const body = 'x'.repeat(50_000);
  for (let nth = 0; nth < 30; nth += 1)
    await world.rule({ match: { client_ref_id: 'never' }, effect: { respond: { status: 200, body } } });
  for (let nth = 0; nth < 70; nth += 1) {
    await fetch(`${target.url}/payout/initiate`, {
      method: 'POST',
      headers: JSON_BODY,
      body: JSON.stringify({ ...PAYOUT, client_ref_id: `order-${nth}`, remarks: body }),
    });
  }
  const paths = ['requests?limit=1000', 'state', 'rules', 'events'];
  const asked = paths.map((path) => rawRequest(`GET /_sandbox/${path}`, AUTHORIZATION).toString());
  const peak = await peakOf(target, () => thatNeverRead(target, 300, (nth) => asked[nth % 4]!.repeat(200)));
  expect(peak).toBeLessThan(1000);
});

test('a hundred thousand different keys never make more worlds than the bound', async () => {
  const target = await startTarget({ ...QUIET, SANDBOX_MAX_WORLDS: '1000' });
  const KEYS = 50_000; // and as many in the second round
  const AT_ONCE = 500; // fewer than the worlds: the honest one is never the idlest
  let made = 0;
  const batch = async (): Promise<void> => {
    const socket = target.open();
    const requests = times(AT_ONCE, (nth) => {
      made += 1;
      const authorization = `Bearer sk_test_invented_${made}`;
      return rawRequest(
        'GET /client/fetchbalance',
        nth === AT_ONCE - 1 ? { authorization, connection: 'close' } : { authorization },
      );
    });
    socket.write(Buffer.concat(requests));
    const answers = (await allThatComes(socket, 'a thousand keys')).toString('latin1');
    expect(answers.split('HTTP/1.1 200 OK')).toHaveLength(AT_ONCE + 1);
    await target.honest.isServed();
  };
  const peak = await peakOf(
    target,
    async () => {
      for (let nth = 0; nth < KEYS / AT_ONCE; nth += 1) await batch();
      return [];
    },
    async () => {
      const metrics = await (await fetch(`${target.url}/_sandbox/metrics`)).text();
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
  const target = await startTarget({ ...QUIET, NODE_OPTIONS: '--max-old-space-size=96' });
  const AT_ONCE = 100;
  for (let sent = 0; sent < count; sent += AT_ONCE) {
    const requests = times(AT_ONCE, (nth) => {
      const { key, change } = made(sent + nth);
      const last = nth === AT_ONCE - 1 ? { connection: 'close' } : {};
      return payRequest(key, { client_ref_id: `p${sent + nth}`, amount: 1, ...change }, last);
    });
    const socket = target.open();
    socket.write(Buffer.concat(requests));
    const answers = (await allThatComes(socket, 'a flood')).toString('latin1');
    expect(answers.split(/HTTP\/1\.1 (?:200|500) /)).toHaveLength(AT_ONCE + 1);
  }
  await target.stop();
});

test('clients that disconnect in the middle of a request or a response leave nothing behind', async () => {
  const target = await startTarget(QUIET);
  const asked = initiate({ client_ref_id: 'half', amount: 1 });
  const peak = await peakOf(target, async () => {
    for (let nth = 0; nth < 20; nth += 1) {
      const sockets = times(100, () => target.open());
      for (const [at, socket] of sockets.entries()) {
        socket.write(asked.subarray(0, Math.ceil((asked.length * (at + 1)) / 100)));
        if (at % 2 === 0) socket.end();
        else socket.resetAndDestroy();
      }
      await target.honest.isServed();
    }
    return [];
  });
  expect(peak).toBeLessThan(150);
});

test('connections that send slowly or nothing are closed within the time limit of a request', async () => {
  const target = await startTarget(QUIET);
  const asked = initiate({ client_ref_id: 'slow' });
  const bodyAt = asked.indexOf('\r\n\r\n') + 4;
  const attack = async (): Promise<Socket[]> => {
    const silent = times(50, () => target.open());
    const slow = times(50, (nth) => {
      const socket = target.open();
      let sent = nth % 2 === 0 ? 0 : bodyAt;
      socket.write(asked.subarray(0, sent));
      const drip = setInterval(() => {
        socket.write(asked.subarray(sent, sent + 1));
        sent = Math.min(sent + 1, asked.length - 1); // never the last
      }, 500);
      socket.once('close', () => clearInterval(drip));
      return socket;
    });
    const served = target.honest.isServed();
    await Promise.all([...silent, ...slow].map((socket) => allThatComes(socket, 'a slow sender')));
    await served;
    return [];
  };
  const peak = await peakOf(target, attack, undefined, 1);
  expect(peak).toBeLessThan(100);
});
