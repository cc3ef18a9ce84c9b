import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The longest path of a socket that every system takes. */
const MAX_SOCKET_PATH = 100;

/**
 * The sockets that may stand for a file: one beside it, so that containers that share the folder meet there; and for a long path,
 * or a folder that cannot hold sockets, one in the folder for temporary files.
 */
function socketsOf(file: string): readonly string[] {
  const name = `payout-sandbox-${createHash('sha256').update(file).digest('hex').slice(0, 32)}`;
  if (process.platform === 'win32') return [`\\\\.\\pipe\\${name}`];
  const beside = `${file}.lock`;
  const isShort = Buffer.byteLength(beside) <= MAX_SOCKET_PATH;
  return [...(isShort ? [beside] : []), join(tmpdir(), name)];
}

/** Whether another process listens there. */
async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** @returns a function that ends it; null when something else is at that path @throws the error of `listen` */
async function listen(path: string): Promise<(() => Promise<void>) | null> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  server.listen(path);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/** The lock at one of the paths. @throws Error when no socket can be made there */
async function lockAt(path: string): Promise<(() => Promise<void>) | 'taken'> {
  const lock = await listen(path);
  if (lock !== null) return lock;
  if (await isListening(path)) return 'taken';
  const left = await lstat(path).catch(() => null);
  if (left?.isSocket() === false) throw new Error(`${path} is another file`);
  await rm(path, { force: true }); // left by a process that was killed
  return (await listen(path)) ?? 'taken';
}

/**
 * Locks a file for this process with a socket: unlike a file, the system closes it however the process ends.
 *
 * @returns a function that unlocks it; `taken` when another process has locked it, `impossible` where no socket can be made
 */
export async function lockFile(file: string): Promise<(() => Promise<void>) | 'taken' | 'impossible'> {
  for (const path of socketsOf(file)) {
    try {
      return await lockAt(path);
    } catch {
      // not in this folder
    }
  }
  return 'impossible';
}
