import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Program, serveInProcess } from '../support/program.ts';
import { projectFolder } from '../support/temporary-folder.ts';

/** The blocks of the page from its client on; what is above them installs the package. */
const [, PAGE] = readFileSync('docs/tutorial.md', 'utf8').split('\n## 2. ');
const BLOCKS = [...PAGE!.matchAll(/```(\w*)\n(.*?)```/gs)].map(({ 1: kind, 2: text, index }) => ({
  above: PAGE!.slice(0, index),
  kind: kind!,
  text: text!,
}));

test('the tutorial works: its files are written, its commands run, and they print what it shows', async () => {
  const folder = projectFolder();
  const { url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant' }); // a reader waits for two seconds
  let printed = '';
  const codes: (number | null)[] = [];
  for (const { above, kind, text } of BLOCKS) {
    if (kind === 'js' || kind === 'yaml') {
      const [, file] = /.*`([\w.]+\.(?:mjs|yaml))`/s.exec(above)!; // the last that is named above
      writeFileSync(join(folder, file!), text);
    } else if (kind === 'diff') {
      const [, gone, fix] = /^-(.*)\n\+(.*)\n$/.exec(text)!;
      const client = join(folder, 'refund.mjs');
      writeFileSync(
        client,
        readFileSync(client, 'utf8').replace(gone!, () => fix!),
      );
    } else if (kind === 'sh') {
      if (text === 'node_modules/.bin/payout-sandbox\n') continue; // which runs already
      const shell = text
        .replace('node_modules/.bin/payout-sandbox', 'node node_modules/payout-sandbox/dist/main.cjs')
        .replace('http://127.0.0.1:3000', url);
      const { code, stdout, stderr } = await new Program(
        'sh',
        ['-c', shell],
        { NO_COLOR: '1', SANDBOX_URL: url, SANDBOX_CLOCK: '2026-01-15T10:30:00Z' }, // else a slow run is judged after its payouts have settled
        folder,
      ).ended;
      printed = stdout + stderr;
      codes.push(code);
    } else {
      for (const line of text.trim().split('\n')) expect(printed).toContain(line.trim());
    }
  }
  expect(codes).toEqual([0, 1, 0, 0, 0]); // the client that pays twice
});
