import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageFile, packageText } from '../package-files.ts';
import { makeFolder, writeText } from './named-files.ts';
import { EXIT_OK, quoted, say } from './output.ts';

/** The folder for everything it writes, so that it never collides with a file of the project. */
const FOLDER = 'payout-sandbox';
const TEST = 'payouts.test.mjs';

const FILES: Readonly<Record<string, string>> = {
  'scenarios/lost-response.yaml': 'a scenario: the first response to each payout is lost',
  'compose.yaml': 'a sandbox in a container, with that scenario',
  [TEST]: 'a first test, with a client to replace with yours',
};

/** The test is written for Node.js; vitest has the same functions under other names. */
const forVitest = (text: string): string =>
  text
    .replace('{ after, before, test }', '{ afterAll as after, beforeAll as before, test }')
    .replace('node:test', 'vitest');

function hasVitest(folder: string): boolean {
  try {
    return /"vitest"\s*:/.test(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return false; // no package, so Node.js runs the test
  }
}

/** `payout-sandbox init FOLDER`: writes a scenario, a compose file and a first test. */
export function initProject(folder: string): number {
  const isVitest = hasVitest(folder);
  const width = Math.max(...Object.keys(FILES).map((name) => name.length));
  for (const [name, purpose] of Object.entries(FILES)) {
    const text = packageText(`fixtures/init/${name}`);
    const file = join(folder, FOLDER, name);
    makeFolder('init', dirname(file));
    const isNew = writeText('init', file, isVitest ? forVitest(text) : text, 'wx');
    say(
      `${isNew ? 'wrote' : 'kept '}  ${FOLDER}/${name.padEnd(width)}  ${isNew ? purpose : 'it was there already'}`,
    );
  }
  const change = folder === '.' ? '' : `cd ${quoted(folder)} && `;
  const test = isVitest ? `npx vitest run ${FOLDER}` : `node --test ${FOLDER}/${TEST}`;
  if (existsSync(join(folder, 'node_modules/payout-sandbox'))) {
    say(`next   ${change}${test}`);
  } else {
    say(`first  ${change}npm install --save-dev ${quoted(packageFile('.'))}`); // the package is in no registry
    say(`next   ${test}`);
  }
  return EXIT_OK;
}
