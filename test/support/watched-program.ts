import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { LogLine } from './program.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ROOT = pathOf('../..');
const MAIN = pathOf('../../dist/main.cjs');
const CACHE = pathOf('../../node_modules/.cache');
const HEAP_ON_DEMAND = new URL('heap-on-demand.mjs', import.meta.url).href;

interface Options {
  readonly environment: Readonly<Record<string, string>>;
  /** Is told every line of the log, in its order, as text. Nothing of it is kept: a long trial writes gigabytes. */
  readonly line: (text: string) => void;
  /** Whether `heap()` may be asked. */
  readonly measured?: boolean;
}

/** The real program under a trial: its log is read as it comes, its heap on demand. It ends with the test. */
export class WatchedProgram {
  readonly child: ChildProcess;
  /** What it was ended by, once all its output is read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** The line that says that it is ready; null when it ended without it. */
  readonly ready: Promise<LogLine | null>;
  stderr = '';

  constructor({ environment, line, measured = false }: Options) {
    const flags = measured ? ['--expose-gc', '--import', HEAP_ON_DEMAND] : [];
    this.child = spawn(process.execPath, [...flags, MAIN, 'serve'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], PORT: '0', XDG_CACHE_HOME: CACHE, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', ...(measured ? (['ipc'] as const) : [])],
    });
    onTestFinished(() => void this.child.kill('SIGKILL'));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(this.child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
    this.ready = new Promise((resolve) => {
      createInterface({ input: this.child.stdout! }).on('line', (text) => {
        if (!text.endsWith('}')) return; // cut off by a kill
        line(text);
        if (text.endsWith('"msg":"payout sandbox ready"}')) resolve(JSON.parse(text) as LogLine);
      });
      void this.ended.then(() => resolve(null));
    });
  }

  /** What is on its heap when all garbage is collected, in bytes. */
  async heap(): Promise<NodeJS.MemoryUsage> {
    const answer = once(this.child, 'message') as Promise<[NodeJS.MemoryUsage]>;
    this.child.send('heap');
    return (await answer)[0];
  }
}
