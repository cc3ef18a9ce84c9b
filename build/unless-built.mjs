// Builds what `npm start` runs, if it is missing: an npm with `ignore-scripts` does not build at `npm ci`.
import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (!existsSync('dist/main.cjs')) {
  process.stdout.write('There is no dist: building it\n');
  execSync('npm run --silent build', { stdio: 'inherit' });
}
