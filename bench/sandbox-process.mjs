// A sandbox in a process of its own for a bench, and what is asked of it from the outside.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The program that is measured; another build of it can be named to compare with. */
const MAIN = process.env.BENCH_MAIN ?? path('../dist/main.cjs');

/** Starts the program, with a probe of its memory in it. @param settings flags, by name */
export async function startProcess(settings) {
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--import', path('heap-probe.mjs'), MAIN, '--port', '0', ...flags],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  const end = () => child.kill('SIGKILL');
  process.once('exit', end); // a bench that fails leaves nothing behind
  child.once('exit', () => process.off('exit', end));
  const startMs = performance.now();
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const readyMs = performance.now() - startMs;
  child.stdout.resume();
  return {
    url: JSON.parse(line.split('\n')[0]).url,
    readyMs,
    /** What it holds after a complete collection, in bytes. */
    async memory() {
      child.send('memory');
      const [answer] = await once(child, 'message');
      return answer;
    },
    /** How long it has computed so far, on all cores, in ms. */
    async cpuMs() {
      child.send('cpu');
      const [{ user, system }] = await once(child, 'message');
      return (user + system) / 1000;
    },
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

/** One request of the control API. @returns its time to the last byte, its size, and its text if that is wanted */
export async function control(url, apiKey, method, route, { body, keeps = false } = {}) {
  const startMs = performance.now();
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
  };
  const sent = request(`${url}/_sandbox${route}`, { method, headers });
  sent.end(body);
  const [answer] = await once(sent, 'response');
  const pieces = [];
  let bytes = 0;
  for await (const piece of answer) {
    bytes += piece.length;
    if (keeps || answer.statusCode !== 200) pieces.push(piece);
  }
  const ms = performance.now() - startMs;
  const whole = Buffer.concat(pieces);
  if (answer.statusCode !== 200)
    throw new Error(`${method} ${route}: ${answer.statusCode} ${whole.toString()}`);
  return { ms, bytes, whole };
}

/** Asks for the balance of a world, from another process, for as long as `work` takes. */
export class Asker {
  #child = fork(path('balance-asker.mjs'));

  /** @returns what `work` returns, and how long the responses took meanwhile, the longest last */
  async during(target, work) {
    this.#child.send(target);
    let result;
    try {
      result = await work();
    } finally {
      this.#child.send('stop');
    }
    const [times] = await once(this.#child, 'message');
    return { result, times: times.toSorted((a, b) => a - b) };
  }

  stop() {
    this.#child.kill();
  }
}
