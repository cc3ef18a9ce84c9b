import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { logLines, startProgram } from '../../../support/program.ts';
import { PAYOUT } from '../../../support/sandbox.ts';

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
  readonly #url: string;
  #paid = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** Makes a payout, and checks its status and the balance. */
  async isServed(): Promise<void> {
    this.#paid += 1;
    const reference = `honest-${this.#paid}`;
    const payout = { ...PAYOUT, client_ref_id: reference, amount: 1 };
    const { txn_id, amount } = await this.#ask('POST', '/payout/initiate', JSON.stringify(payout));
    const status = await this.#ask('GET', `/payout/status?client_ref_id=${reference}`);
    assert.deepEqual([amount, status['txn_id'], status['client_ref_id']], [1, txn_id, reference]);
    const { balance } = await this.#ask('GET', '/client/fetchbalance');
    assert.equal(balance, 1_000_000 - this.#paid);
  }

  async #ask(method: string, path: string, body?: string): Promise<Readonly<Record<string, unknown>>> {
    const headers = {
      authorization: 'Bearer sk_test_honest',
      connection: 'close',
      'content-type': 'application/json',
    };
    const response = await fetch(this.#url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return (JSON.parse(text) as { readonly data: Readonly<Record<string, unknown>> }).data;
  }
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
