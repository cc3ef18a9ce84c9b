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

test('rule-from prints a scenario that repeats a request of a running sandbox', async () => {
  const { client, url } = await sandboxFor();
  const { world, apiKey } = client();
  await world.rule({ name: 'busy', effect: { respond: { status: 503, headers: { 'Retry-After': '7' } } } });
  await world.pay({ client_ref_id: 'order-1' });
  const { code, stdout, stderr } = await runInProcess(['rule-from', '--url', url, '--key', apiKey, '1']);
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
  ['nothing', [], /^rule-from needs a file and the id of a request/],
  ['no request', ['FILE'], /^rule-from needs a file and the id of a request/],
  ['too much', ['FILE', '1', '2'], /^rule-from needs a file and the id of a request/],
  [
    'a file and an address',
    ['--url', 'http://127.0.0.1:9', '--key', 'k', 'FILE', '1'],
    /^rule-from needs a file/,
  ],
  ['an address without a key', ['--url', 'http://127.0.0.1:9', '1'], /^rule-from --url needs --key/],
  [
    'no address',
    ['--url', 'localhost', '--key', 'k', '1'],
    /^--url must begin with http.*, not "localhost"$/,
  ],
  [
    'an address where nothing is',
    ['--url', 'http://127.0.0.1:9', '--key', 'k', '1'],
    /^no sandbox answers at /,
  ],
  ['a request that is not there', ['FILE', '7'], /^request 7 is not in the journal, which has #1 to #1$/],
  ['a file that is not there', ['/nowhere', '1'], /^rule-from: \/nowhere cannot be read \(ENOENT\)$/],
  [
    'a file that is no journal',
    ['package.json', '1'],
    /^rule-from: package.json cannot be used: it is neither a journal/,
  ],
])('rule-from refuses %s with one line', async (_what, words, complaint) => {
  const file = await savedJournal();
  const { code, stdout, stderr } = await runInProcess([
    'rule-from',
    ...words.map((word) => (word === 'FILE' ? file : word)),
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^payout-sandbox: .*\n$/);
  expect(stderr.slice('payout-sandbox: '.length, -1)).toMatch(complaint);
});

test('rule-from refuses a key that the sandbox does not accept, and a request that does not belong to the service', async () => {
  const { url } = await sandboxFor();
  const refused = await runInProcess(['rule-from', '--url', url, '--key', 'wrong', '1']);
  expect(refused.stderr).toMatch(/^payout-sandbox: the sandbox at http.* refused: .*key/);
  const other = await runInProcess(['rule-from', await savedJournal({ route: null }), '1']);
  expect(other.stderr).toBe(
    'payout-sandbox: request #1 (POST /payout/initiate) is not a request of the payout service\n',
  );
});
