import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Where this process writes a file that is to take the place of another one. No other process writes there. */
export const unfinishedOf = (file: string): string => `${file}.${process.pid}.tmp`;

/** Whether there is such a process. Only one that there is not is told by ESRCH. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Removes what was left unfinished beside a file by processes that were killed. That of others is theirs. */
export async function removeAbandoned(file: string): Promise<void> {
  const prefix = `${basename(file)}.`;
  for (const name of await readdir(dirname(file))) {
    const pid = name.startsWith(prefix)
      ? /^([1-9]\d{0,8})\.tmp$/.exec(name.slice(prefix.length))?.[1]
      : undefined;
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(dirname(file), name), { force: true }).catch(() => undefined); // it only takes room
  }
}
