import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BUILT_WITH_TYPE_ERRORS = 2; // which `npm run types` reports

/** Builds `dist` once before the tests, since some of them run the program as its users do. */
export default function build(): void {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), encoding: 'utf8' },
  );
  if (status !== 0 && status !== BUILT_WITH_TYPE_ERRORS) throw new Error(`no build: ${stdout}${stderr}`);
  buildPage();
}

function buildPage(): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`no page: ${stderr}`);
}
