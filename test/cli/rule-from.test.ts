import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runInProcess } from '../support/program.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { stateFolder } from '../support/state-folder.ts';

/** A file with the journal of a world whose first request got a 500 after its payout was made; with changes to its entry. */
async function savedJournal(change: object = {}): Promise<string> {
  const { world } = (await sandboxFor()).client();
  await world.rule({ name: 'lost', effect: { commit: true, respond: { status: 500 } } });
  await world.pay({ client_ref_id: 'order-1' });
  const requests = (await world.requests()).map((entry) => Object.assign({}, entry, change));
  const file = `${stateFolder()}/journal.json`;
  writeFileSync(file, JSON.stringify({ requests }));
  return file;
}

test('rule from prints a scenario that repeats a request of a running sandbox', async () => {
  const { client, url } = await sandboxFor();
  const { world, apiKey } = client();
  await world.rule({ name: 'busy', effect: { respond: { status: 503, headers: { 'Retry-After': '7' } } } });
  await world.pay({ client_ref_id: 'order-1' });
  const args = ['rule', 'from', '1', '--url', url, '--key', apiKey];
  const { code, stdout, stderr } = await runInProcess(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(
    [
      'rules:',
      '  - name: request-1',
      '    description: "Repeats what request #1 got: POST /payout/initiate"',
      '    match:',
      '      route: initiate',
      '      client_ref_id: order-1',
      '      attempt: 1',
      '    effect:',
      '      commit: false',
      '      respond:',
      '        status: 503',
      '        headers:',
      '          retry-after: "7"',
      '        body:',
      '          status: error',
      '          message: Service Unavailable',
      '          code: HTTP_503',
      '',
    ].join('\n'),
  );
});

test.each<[string, readonly string[], RegExp]>([
  ['no request', [], /^missing required argument 'number'/],
  ['too much', ['1', 'FILE', '2'], /^too many arguments for 'from'/],
  ['an address where nothing is', ['1', '--url', 'http://127.0.0.1:9'], /^no sandbox answers at /],
  ['a request that is not there', ['7', 'FILE'], /^request 7 is not in the journal, which has #1 to #1$/],
  ['a file that is not there', ['1', '/nowhere'], /^rule from: \/nowhere cannot be read \(ENOENT\)$/],
  [
    'a file that is no journal',
    ['1', 'package.json'],
    /^rule from: package.json cannot be used: it is neither a journal/,
  ],
])('rule from refuses %s with one line', async (_what, words, complaint) => {
  const file = await savedJournal();
  const args = ['--url', 'http://127.0.0.1:9', ...words.map((word) => (word === 'FILE' ? file : word))];
  const { code, stdout, stderr } = await runInProcess(['rule', 'from', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^payout-sandbox: .*\n$/);
  expect(stderr.slice('payout-sandbox: '.length, -1)).toMatch(complaint);
});

test('rule from refuses a request that does not belong to the service', async () => {
  const file = await savedJournal({ route: null });
  const other = await runInProcess(['rule', 'from', '1', file, '--url', 'http://127.0.0.1:9']);
  expect(other.stderr).toBe(
    'payout-sandbox: request #1 (POST /payout/initiate) is not a request of the payout service\n',
  );
});
