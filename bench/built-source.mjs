// Modules of the source for a bench that measures what the package does not show.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @param exports what is wanted, as the lines of a module in `src` that exports it */
export async function builtSource(exports) {
  // one step below the package's folder, as `dist` is, so that its files and packages are found
  const folder = mkdtempSync(join(ROOT, '.bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const outfile = join(folder, 'built.mjs');
  await build({
    stdin: { contents: exports, resolveDir: join(ROOT, 'src'), loader: 'ts' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outfile,
  });
  return import(pathToFileURL(outfile).href);
}
