import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import {
  ask,
  linesOf,
  MAIN,
  nobodyListens,
  Program,
  serveInProcess,
  startProgram,
} from '../support/program.ts';
import { quietPort } from '../support/http/quiet-port.ts';
import { answersOn, rawRequest, rawSocket } from '../support/http/raw-socket.ts';
import { PAYOUT } from '../support/sandbox.ts';
import { isLong } from '../support/size.ts';
import { fileWith } from '../support/temporary-folder.ts';

const KEY = 'sk_test_a';
const BODY = JSON.stringify(PAYOUT);
const SIGNALS = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;

/** Longer than a stop takes on any machine, and shorter than the timeouts of the server, 30 and 72 s. */
const STOP_TIMEOUT = { timeout: 25_000 };

/** Sends the head of an initiate, and waits until the server asks for the body. */
async function beginRequest(url: string): Promise<Socket> {
  const socket = rawSocket(url);
  const head = rawRequest('POST /payout/initiate', {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'content-length': String(BODY.length),
    expect: '100-continue',
  });
  socket.write(head);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  return socket;
}

/** A connection that is kept open after one response. */
async function keepAlive(url: string): Promise<Socket> {
  const socket = rawSocket(url);
  socket.write(rawRequest('GET /client/fetchbalance', { authorization: `Bearer ${KEY}` }));
  await answersOn(socket, 1);
  return socket;
}

/** A connection on which nothing is sent. */
async function silent(url: string): Promise<Socket> {
  const socket = rawSocket(url);
  await once(socket, 'connect');
  return socket;
}

/** How the program ends, in which this code is run first. */
const endedAfter = (code: string) =>
  new Program(process.execPath, ['--require', fileWith('hook.cjs', code), MAIN], {}).ended;

test('a signal during the start ends the program at once', STOP_TIMEOUT, async () => {
  const { code } = await endedAfter(`
    require('node:net').Server.prototype.listen = function () {
      process.kill(process.pid); // and it never listens
      return this;
    };`);
  expect(code).toBe(0);
});

test('process 1 obeys a signal that comes while the program is loaded', STOP_TIMEOUT, async () => {
  const { code } = await endedAfter(`
    const { pid } = process;
    Object.defineProperty(process, 'pid', { value: 1 });
    const modules = require('node:module');
    const load = modules._load;
    modules._load = (name, ...rest) => {
      if (name.includes('command-line')) process.kill(pid);
      return load(name, ...rest);
    };`);
  expect([0, 143]).toContain(code); // without a handler, the signal itself would end it, as it does not end process 1
});

test.each(isLong ? SIGNALS : SIGNALS.slice(0, 1))(
  'a request in progress at %s is still answered, and a delayed response is sent at once',
  STOP_TIMEOUT,
  async (signal) => {
    const file = fileWith(
      'late.yaml',
      'rules: [{ match: { route: initiate, client_ref_id: late }, effect: { delay: 1h } }]',
    );
    const { program, url } = await startProgram({ SANDBOX_SCENARIO: file });
    const delayed = ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'late' });
    const status = async (): Promise<number> =>
      (await ask(`${url}/payout/status?client_ref_id=late`, KEY)).status;
    await expect.poll(status).toBe(200);
    const socket = await beginRequest(url);
    const answer = answersOn(socket);
    socket.write(BODY.slice(0, 20));
    program.child.kill('SIGSTOP'); // so that this test takes no time from the request
    program.child.kill(signal);
    await new Promise((sent) => socket.write(BODY.slice(20), sent));
    program.child.kill('SIGCONT');
    await nobodyListens(url);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*"client_ref_id":"order-1"/);
    const late = await delayed;
    expect(late.status).toBe(200);
    expect(await late.json()).toMatchObject({ status: 'success', data: { client_ref_id: 'late' } });
    const { code, stdout } = await program.ended; // a timer that is left would delay it
    expect(code).toBe(0);
    const lines = linesOf(stdout, 'request').filter(({ route }) => route === 'initiate');
    expect(new Set(lines.map(({ client_ref_id }) => client_ref_id))).toEqual(new Set(['late', 'order-1']));
    for (const line of lines) {
      expect(line).toMatchObject({ status: 200 });
      expect(line).not.toHaveProperty('client_gone');
    }
    expect(lines.find(({ client_ref_id }) => client_ref_id === 'late')).toMatchObject({ committed: true });
  },
);

test(
  'a stop closes idle and silent connections at once, answers requests in progress, and waits for no body that never comes',
  STOP_TIMEOUT,
  async () => {
    const { stop, url } = await serveInProcess();
    const [one, other] = [await beginRequest(url), await beginRequest(url)];
    const answers = [answersOn(one), answersOn(other)];
    const never = once((await beginRequest(url)).resume(), 'close');
    const idle = [await keepAlive(url), await silent(url)];
    const closed = idle.map((socket) => once(socket.resume(), 'close'));
    const stopped = stop();
    await Promise.all(closed);
    for (const [i, socket] of [one, other].entries()) {
      socket.write(BODY);
      expect(await answers[i]).toMatch(/^HTTP\/1\.1 200 OK\r\n/); // answersOn resolves when the connection closes
    }
    await never;
    expect(linesOf(await stopped, 'request')).toHaveLength(4);
  },
);

test('a pause of the whole process as it stops takes no time from requests in progress', async () => {
  const { stop, url } = await serveInProcess();
  const socket = await beginRequest(url);
  const answer = answersOn(socket);
  const stopped = stop();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000); // nothing runs in this process
  socket.write(BODY);
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  await stopped;
});

test('a program that npx runs in a shell stops when the shell is killed, which does not pass the signal on', async () => {
  const inShell = ['-c', '"$0" "$1" --port 0; true', process.execPath, MAIN];
  const program = new Program('sh', inShell, { npm_command: 'exec' });
  await program.says(/"msg":"payout sandbox ready"/);
  const { stdout } = await program.stop(); // resolves once nothing has the pipe of its log any more
  expect(stdout).toContain('"msg":"stopped"');
});

test('an unread log does not delay a stop', STOP_TIMEOUT, async () => {
  const { program, url } = await startProgram();
  program.child.stdout!.pause();
  const asked = rawRequest(`GET /${'x'.repeat(127)}`, {})
    .toString()
    .repeat(100);
  for (let nth = 0; nth < 7; nth += 1) {
    const socket = rawSocket(url);
    socket.write(asked); // some 300 bytes of log each: more than the pipe buffers hold
    await answersOn(socket, 100);
    socket.destroy();
  }
  expect(await program.stop()).toMatchObject({ code: 0, stderr: '' });
});

test('a sandbox can restart on the same port at once', STOP_TIMEOUT, async () => {
  const SANDBOX_PORT = String(await quietPort());
  const { stop, url } = await serveInProcess({ SANDBOX_PORT });
  await keepAlive(url);
  await stop();
  const again = await serveInProcess({ SANDBOX_PORT });
  expect(again.url).toBe(url);
  expect((await ask(`${url}/client/fetchbalance`, KEY)).status).toBe(200);
});
