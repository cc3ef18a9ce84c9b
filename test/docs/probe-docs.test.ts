import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/index.ts';
import { runInProcess } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PAGE = readFileSync(new URL('../../docs/probe.md', import.meta.url), 'utf8');
const blockOf = (language: string): string =>
  new RegExp(`\\n\\n\`\`\`${language}\\n([^]*?)\`\`\``).exec(PAGE)![1]!;

test('docs/probe.md shows what a probe prints and writes, and serve --dialect takes what it wrote', async () => {
  const file = join(temporaryFolder(), 'real.yaml');
  const service = await startSandbox({ dialect: 'strict' });
  onTestFinished(() => service.close());
  const command = ['probe', service.url, '--key-env', 'PAYOUT_KEY', '--level', 'refused', '--write', file];
  const { code, stdout, stderr } = await runInProcess(command, { PAYOUT_KEY: 'sk_test_live' });
  const steady = (text: string): string =>
    text
      .replaceAll(service.url, 'http://127.0.0.1:4000')
      .replaceAll(file, 'real.yaml')
      .replaceAll(/probe-[0-9a-z]{8}-/g, 'probe-mwrmkxs3-')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-11-22T09:15:00.000Z')
      .replaceAll(/\d{4}-\d\d-\d\d [\d:]+ IST/g, '2026-11-22 14:45:00 IST');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(steady(stderr)).toBe(blockOf(''));
  expect(steady(readFileSync(file, 'utf8'))).toBe(blockOf('yaml'));
  const sandbox = await startSandbox({ dialect: file });
  onTestFinished(() => sandbox.close());
  const world = sandbox.world();
  const answer = await fetch(`${world.url}/payout/initiate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ field: 'that nobody knows' }),
  });
  expect(((await answer.json()) as { message: string }).message).toContain('field is not a known field');
});
