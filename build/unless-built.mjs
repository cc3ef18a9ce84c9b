// Builds what `npm start` runs, if it is missing: an npm with `ignore-scripts` does not build at `npm ci`.
import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (!existsSync('dist/main.cjs')) {
  console.log('There is no dist: building it');
  execSync('npm run --silent build', { stdio: 'inherit' });
}
