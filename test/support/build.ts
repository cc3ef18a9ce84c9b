import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds `dist` once before the tests, as `npm run build` does, since some of them run the program as its users do. */
export default function build(): void {
  run('build/bundle.mjs');
  run('node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn');
}

function run(...command: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`no build: ${stdout}${stderr}`);
}
