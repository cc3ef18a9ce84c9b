import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'iovalkey';

export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0;

const ASKED_AGAIN_MS = 2000;
/** Until a store is asked again, which costs it and its client a new connection. */
export const soon = (): Promise<void> => pause(10);

const FIRST_PORT = 10_000;
const PORTS_EACH = 200;
const MOST_WORKERS = 60;
let portsTaken = 0;

/**
 * A port of this worker's own, below those that a system gives to whoever asks for any: nobody takes it while a store that was
 * killed is away. A node of a cluster takes a second one, 10,000 above.
 */
function nextPort(): number {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % MOST_WORKERS;
  portsTaken += 1;
  return FIRST_PORT + worker * PORTS_EACH + ((process.pid + portsTaken) % PORTS_EACH);
}

/** Another program may have the port. */
const isPortTaken = (error: unknown): boolean =>
  error instanceof Error && /Address already in use/i.test(error.message);

/** A store of the tests' own, which can be killed and started again with what it had on its disk. */
export class RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-store-'));
  readonly #flags: readonly string[];
  #child: ChildProcess | null = null;

  private constructor(port: number, flags: readonly string[]) {
    this.port = port;
    this.#flags = flags;
  }

  /** @param flags beside those that make it a store of tests: `--appendonly yes` */
  static start(...flags: string[]): Promise<RedisServer> {
    return RedisServer.#startOn(() => flags);
  }

  /** Starts one that can also be used over TLS. */
  static async startWithTls(...flags: string[]): Promise<readonly [server: RedisServer, tlsPort: number]> {
    let port = 0;
    const server = await RedisServer.#startOn(() => ['--tls-port', String((port = nextPort())), ...flags]);
    return [server, port];
  }

  static async #startOn(flags: () => readonly string[]): Promise<RedisServer> {
    for (;;) {
      const server = new RedisServer(nextPort(), flags());
      try {
        await server.start();
        return server;
      } catch (error) {
        await server.end();
        if (!isPortTaken(error)) throw error;
      }
    }
  }

  /** Makes one cluster of some servers, each of which has a part of the slots. */
  static async makeCluster(nodes: readonly RedisServer[]): Promise<void> {
    const SLOTS = 16_384;
    const share = Math.ceil(SLOTS / nodes.length);
    for (const [nth, node] of nodes.entries()) {
      const last = Math.min(SLOTS, (nth + 1) * share) - 1;
      await node.command('CLUSTER', 'ADDSLOTSRANGE', String(nth * share), String(last));
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(nth + 1));
      if (nth > 0) await node.meet(nodes[0]!);
    }
    const isReady = async (node: RedisServer): Promise<boolean> => {
      const info = String(await node.command('CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`); // which may be ok with fewer
    };
    for (const node of nodes) while (!(await isReady(node))) await soon();
  }

  /** Makes two nodes of a cluster know each other. What was asked once is forgotten by a node that stands still for a second. */
  async meet(other: RedisServer): Promise<void> {
    const [id, otherId] = [await this.command('CLUSTER', 'MYID'), await other.command('CLUSTER', 'MYID')];
    const knows = async (node: RedisServer, known: unknown): Promise<boolean> =>
      String(await node.command('CLUSTER', 'NODES')).includes(String(known));
    let askedMs = -Infinity;
    while (!(await knows(this, otherId)) || !(await knows(other, id))) {
      if (performance.now() - askedMs > ASKED_AGAIN_MS) {
        await this.command('CLUSTER', 'MEET', '127.0.0.1', String(other.port));
        askedMs = performance.now();
      }
      await soon();
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const { port } = this;
    const flags = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--repl-diskless-sync-delay',
      '0',
      ...(this.#flags.includes('--databases') ? [] : ['--databases', '10000']),
    ];
    const child = spawn('redis-server', [...flags, '--dir', this.#folder, ...this.#flags]);
    this.#child = child;
    let said = '';
    for await (const piece of child.stdout.setEncoding('utf8')) {
      said += piece as string;
      if (said.includes('Ready to accept connections')) return;
    }
    throw new Error(`no store: ${said}`);
  }

  /** Asks it what only an operator would. */
  async command(name: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(this.url);
    try {
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await ended;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
