import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { killed, type LogLine } from '../../support/program.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ROOT = pathOf('../../..');
const MAIN = pathOf('../../../dist/main.cjs');
const CACHE = pathOf('../../../node_modules/.cache');
const HEAP_ON_DEMAND = new URL('heap-on-demand.mjs', import.meta.url).href;

interface Options {
  readonly environment: Readonly<Record<string, string>>;
  /** Called with every log line, in order. None is kept, since a long trial writes gigabytes. */
  readonly line: (text: string) => void;
  /** Whether `heap()` can be called. */
  readonly measured?: boolean;
}

/** The built program in a trial. Its log is read as it is written. It is killed when the test ends. */
export class WatchedProgram {
  readonly child: ChildProcess;
  /** Its exit code or signal, once all its output is read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** The ready line; null when the program ended without it. */
  readonly ready: Promise<LogLine | null>;
  stderr = '';

  constructor({ environment, line, measured = false }: Options) {
    const flags = measured ? ['--expose-gc', '--import', HEAP_ON_DEMAND] : [];
    this.child = spawn(process.execPath, [...flags, MAIN, 'serve'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], PORT: '0', XDG_CACHE_HOME: CACHE, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', ...(measured ? (['ipc'] as const) : [])],
    });
    onTestFinished(() => killed(this.child));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(this.child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
    this.ready = new Promise((resolve) => {
      createInterface({ input: this.child.stdout! }).on('line', (text) => {
        if (!text.endsWith('}')) return; // incomplete because the program was killed
        line(text);
        if (text.endsWith('"msg":"payout sandbox ready"}')) resolve(JSON.parse(text) as LogLine);
      });
      void this.ended.then(() => resolve(null));
    });
  }

  /** Its memory usage after garbage collection, in bytes. */
  async heap(): Promise<NodeJS.MemoryUsage> {
    const answer = once(this.child, 'message') as Promise<[NodeJS.MemoryUsage]>;
    this.child.send('heap');
    return (await answer)[0];
  }
}
