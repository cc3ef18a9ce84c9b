import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { connectSandbox } from '../../../../src/index.ts';
import { logLines, startProgram } from '../../../support/program.ts';
import { clientOf, type Client, type Seen } from '../../../support/sandbox.ts';

export const ADMIN_TOKEN = 'the-token-of-the-attacked';
export const MEBIBYTE = 2 ** 20;

/** A process of the built program under attack, as seen from outside. */
export interface Target {
  readonly url: string;
  /** A client that no attack may affect. */
  readonly honest: Honest;
  /** Resident memory, in MiB. */
  readonly memory: () => number;
  /** How many connections the process has open. */
  readonly connections: () => number;
  /** Opens a connection that is closed when the test ends. */
  readonly open: () => Socket;
  /** Fails unless the process is alive, has logged no internal error, and stops cleanly. */
  readonly stop: () => Promise<void>;
}

/**
 * Makes payouts of one rupee and checks each response against what it has paid. It opens a new connection each time, since
 * the server may close an idle one just when it is used again.
 */
class Honest {
  readonly #client: Client;
  #paid = 0;

  constructor(url: string) {
    this.#client = clientOf(connectSandbox({ url }).world('sk_test_honest'), { connection: 'close' });
  }

  /** Makes a payout, and checks its status and the balance. */
  async isServed(): Promise<void> {
    this.#paid += 1;
    const { pay, status, balance } = this.#client;
    const reference = { client_ref_id: `honest-${this.#paid}` };
    const { txn_id } = served(await pay({ ...reference, amount: 1 }));
    const read = served(await status(reference));
    assert.deepEqual([read['txn_id'], read['amount']], [txn_id, 1]);
    assert.equal(served(await balance())['balance'], 1_000_000 - this.#paid);
  }
}

/** The data of a response, which must be a 200. */
function served({ status, text, body }: Seen): Readonly<Record<string, unknown>> {
  assert.equal(status, 200, text);
  return body.data;
}

/** How many files and sockets a process has open. */
function socketsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** Starts the program under attack. */
export async function startTarget(environment: Readonly<Record<string, string>> = {}): Promise<Target> {
  const { program, url } = await startProgram({
    SANDBOX_RATE_LIMIT: 'off',
    SANDBOX_METRICS: 'on',
    SANDBOX_ADMIN_TOKEN: ADMIN_TOKEN,
    SANDBOX_SETTLEMENT: 'manual',
    ...environment,
  });
  const pid = program.child.pid!;
  const { hostname, port } = new URL(url);
  const honest = new Honest(url);
  await honest.isServed(); // so that what the first request allocates is not counted
  const idle = socketsOf(pid);
  const opened = new Set<Socket>();
  onTestFinished(() => opened.forEach((socket) => socket.destroy()));
  return {
    url,
    honest,
    memory: () => residentOf(pid),
    connections: () => socketsOf(pid) - idle,
    open() {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined); // the server may cut it off
      opened.add(socket);
      socket.once('close', () => opened.delete(socket));
      return socket;
    },
    async stop() {
      expect(program.child.exitCode).toBe(null);
      const { code, stdout, stderr } = await program.stop();
      const faults = logLines(stdout).filter(({ level }) => Number(level) >= 50);
      expect({ code, stderr, faults }).toEqual({ code: 0, stderr: '', faults: [] });
    },
  };
}

/** Everything received on a connection until it is closed. Fails if it is never closed. */
export function allThatComes(socket: Socket, what: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const never = setTimeout(() => {
      socket.destroy();
      reject(new Error(`never answered to its end: ${what}`));
    }, 60_000);
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
    socket.once('close', () => {
      clearTimeout(never);
      resolve(Buffer.concat(chunks));
    });
  });
}
