import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { MAIN, Program, type LogLine } from '../../support/program.ts';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
const HEAP_ON_DEMAND = new URL('heap-on-demand.mjs', import.meta.url).href;

interface Options {
  readonly environment: Readonly<Record<string, string>>;
  /** Called with every log line, in order. None is kept, since a long trial writes gigabytes. */
  readonly line: (text: string) => void;
  /** Whether `heap()` can be called. */
  readonly measured?: boolean;
}

/** The built program in a trial. Its log is read as it is written. */
export class WatchedProgram extends Program {
  /** The ready line; null when the program ended without it. */
  readonly ready: Promise<LogLine | null>;

  constructor({ environment, line, measured = false }: Options) {
    const flags = measured ? ['--expose-gc', '--import', HEAP_ON_DEMAND] : [];
    const args = [...flags, MAIN, 'serve'];
    const env = { XDG_CACHE_HOME: CACHE, ...environment };
    super(process.execPath, args, env, undefined, measured, () => undefined);
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
