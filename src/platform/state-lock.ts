import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** The longest path of a socket that every system takes. */
const MAX_SOCKET_PATH = 100;

type Unlock = () => Promise<void>;

/**
 * What the paths of the sockets of a file begin with: one beside it, so that containers that share the folder meet there; and for a
 * long path, or a folder that cannot hold sockets, one in the folder for temporary files. A number follows.
 */
function prefixesOf(file: string): readonly string[] {
  const name = `payout-sandbox-${createHash('sha256').update(file).digest('hex').slice(0, 32)}.`;
  if (process.platform === 'win32') return [`\\\\.\\pipe\\${name}`];
  const beside = `${file}.lock`;
  const isShort = Buffer.byteLength(beside) < MAX_SOCKET_PATH - 3;
  return [...(isShort ? [beside] : []), join(tmpdir(), name)];
}

/** The numbers of the sockets of a file; pipes of Windows, which end with their process, are in no folder. */
async function numbersAt(prefix: string): Promise<readonly number[]> {
  const [folder, start] = [dirname(prefix), basename(prefix)];
  const names = process.platform === 'win32' ? [] : await readdir(folder);
  return names
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)));
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

/** Whether another process listens at one of the sockets. */
const isTaken = async (prefix: string, numbers: readonly number[]): Promise<boolean> =>
  (await Promise.all(numbers.map((number) => isListening(prefix + number)))).includes(true);

/** @returns a function that ends it; null when something is at that path already @throws the error of `listen` */
async function listen(path: string): Promise<Unlock | null> {
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

/**
 * Locks with the socket of the next number. Sockets of processes that were killed are never replaced, and only the holder removes
 * them, so that nobody removes that of a process that has just come. @throws Error when no socket can be made there
 */
async function lockAt(prefix: string): Promise<Unlock | 'taken'> {
  const left = await numbersAt(prefix);
  if (await isTaken(prefix, left)) return 'taken';
  const own = Math.max(0, ...left) + 1;
  const unlock = await listen(prefix + own);
  if (unlock === null) return 'taken'; // another process has just come
  const others = (await numbersAt(prefix)).filter((number) => number !== own);
  if (await isTaken(prefix, others)) {
    await unlock(); // one that had looked before those of others were removed
    return 'taken';
  }
  for (const number of others) await rm(prefix + number, { force: true });
  return unlock;
}

/**
 * Locks a file for this process with a socket: unlike a file, the system closes it however the process ends.
 *
 * @returns a function that unlocks it; `taken` when another process has locked it, `impossible` where no socket can be made
 */
export async function lockFile(file: string): Promise<Unlock | 'taken' | 'impossible'> {
  for (const prefix of prefixesOf(file)) {
    try {
      return await lockAt(prefix);
    } catch {
      // not in this folder
    }
  }
  return 'impossible';
}
