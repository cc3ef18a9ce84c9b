import { readFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

/** What a test names that starts a program or shows a page of the build; one that uses the browser; one that asks a store. */
export const BUILT =
  /\b(?:\w*Program|MAIN|Soak|startOnTerminal|onTerminal|paste|spawnSync|execFile|startTarget|WAYS_IN|StdioClientTransport)\b|\bdist\/|_sandbox\/docs/;
export const BROWSER = /support\/browser\.ts/;
export const STORE = /support\/store\/(?!scripts-run|store-times)/;

/** Whether any of the tests that are to run needs one of these. */
export const isNeeded = ({ vitest }: TestProject, ...what: readonly RegExp[]): boolean =>
  vitest.state
    .getPaths()
    .map((path) => readFileSync(path, 'utf8'))
    .some((text) => what.some((one) => one.test(text)));
