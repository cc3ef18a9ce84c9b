import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { hasBrowser } from './chromium.ts';
import { BROWSER, BUILT, isNeeded } from './what-tests-use.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The sources of `dist`, and the file that the build writes last. */
const SOURCES = [
  'src',
  'build',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsdown.config.ts',
  'vite.config.ts',
];
const WRITTEN_LAST = 'dist/dashboard/index.html';

function changedMs(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => changedMs(join(path, name))));
}

/** Builds `dist` before tests that need it, unless it is up to date. */
export default function build(project: TestProject): void {
  if (!hasBrowser)
    process.stderr.write(
      'no Chromium (CHROMIUM may name one): the tests of the dashboard in it are skipped\n',
    );
  if (!isNeeded(project, BUILT, BROWSER)) return;
  const newestSourceMs = Math.max(...SOURCES.map((path) => changedMs(join(ROOT, path))));
  if (changedMs(join(ROOT, WRITTEN_LAST)) > newestSourceMs) return;
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32', // npm is a script on Windows
  });
  if (status !== 0) throw new Error(`no build: ${stdout}${stderr}`);
}
