import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** Set by the build: a digest of what is loaded, since V8 tells an old cache by the length of its source only. */
declare const CORE_DIGEST: string | undefined;

/** When what a start needs has been used, and so compiled. */
const STARTED_MS = 1000;

const FOLDER = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'payout-sandbox');
const KIND = `${process.version}-${process.arch}`;

const WRITABLE_BY_OTHERS = 0o022;

/** What was kept, if nobody else can have written it: V8 runs whatever it says. */
function read(file: string): Buffer | undefined {
  try {
    const { uid, mode } = statSync(file);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && !(mode & WRITABLE_BY_OTHERS));
    return isOurs ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the compiled code, in place of that of other builds. A folder that cannot be written to is no harm. */
function keep(file: string, data: Buffer): void {
  try {
    mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
    const whole = `${file}.${process.pid}`;
    writeFileSync(whole, data, { mode: 0o600 });
    renameSync(whole, file); // nobody reads half of it
    for (const name of readdirSync(FOLDER)) {
      const other = join(FOLDER, name);
      if (name.startsWith(KIND) && other !== file) rmSync(other, { force: true });
    }
  } catch {
    // the next start compiles again
  }
}

/**
 * Loads a CommonJS file like `require`, with the code that V8 made of it at an earlier start, which saves a third of the
 * start. Node's own compile cache is not there in Node.js 20, and keeps none of the functions that run at a start.
 * NODE_DISABLE_COMPILE_CACHE=1 turns it off, as it does Node's.
 */
export function loadCompiled(url: URL): unknown {
  const require = createRequire(url);
  const path = fileURLToPath(url);
  if (process.env['NODE_DISABLE_COMPILE_CACHE'] || typeof CORE_DIGEST === 'undefined') return require(path);
  const file = join(FOLDER, `${KIND}-${CORE_DIGEST}`);
  const cachedData = read(file);
  // the build writes ASCII, which needs no decoding
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, 'latin1')}\n})`;
  const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected) {
    let isKept = false;
    const keepOnce = (): void => {
      if (!isKept) keep(file, script.createCachedData());
      isKept = true;
    };
    setTimeout(keepOnce, STARTED_MS).unref();
    process.once('exit', keepOnce);
  }
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, require, module, path, dirname(path));
  return module.exports;
}
