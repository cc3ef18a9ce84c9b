import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { InitiateRequest, STATES } from '../../src/contract/service.ts';
import { BalanceResponse, InitiateResponse, StatusResponse } from '../../src/contract/service-responses.ts';
import { startSandbox } from '../../src/index.ts';
import { legalNext } from '../../src/payout/timeline.ts';
import { judge } from '../../src/referee/judge.ts';
import { routesIn } from '../support/control.ts';
import { commandsOf, listUnder, tableIn, tableUnder } from '../support/markdown.ts';
import { hasCurl } from '../support/paying-command.ts';
import { ask, paste, Program, runInProcess, runProgram, serveInProcess } from '../support/program.ts';
import { clientFor } from '../support/sandbox.ts';
import { isLong } from '../support/size.ts';
import { folderWith } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const fileOf = (name: string): string => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));

test('docs/service.md lists exactly the fields of each route, which are required, and what can follow each state', () => {
  const fields = (heading: string) => tableUnder(page('service.md'), heading).map(([field]) => field);
  const request = Object.entries(InitiateRequest.shape).map(([field, schema]) => [
    field,
    schema.isOptional() ? 'no' : 'yes',
  ]);
  const [sent, got] = page('service.md').split('The response is');
  expect(tableIn(sent!).map(([field, , required]) => [field, required])).toEqual(request);
  expect(tableIn(got!).map(([field]) => field)).toEqual(Object.keys(InitiateResponse.shape.data.shape));
  expect(fields('GET /payout/status')).toEqual(Object.keys(StatusResponse.shape.data.shape));
  expect(fields('GET /client/fetchbalance')).toEqual(Object.keys(BalanceResponse.shape.data.shape));
  const states = tableUnder(page('service.md'), 'States').map(([state, , next]) => [state, next]);
  expect(states).toEqual(STATES.map((state) => [state, legalNext(state).join(', ') || '–']));
});

test('docs/control-api.md lists exactly the calls of the control API', async () => {
  const listed = listUnder(page('control-api.md'), 'Calls').map(([call]) => call.split(' (', 1)[0]!);
  const { body } = await (await clientFor()).send('GET', '/_sandbox/nowhere');
  expect(listed.toSorted()).toEqual(routesIn(body.message).toSorted());
});

test.skipIf(!hasCurl)(
  'the curl commands of docs/control-api.md and the payout of docs/cli.md work after those of docs/service.md',
  async () => {
    const { url } = await serveInProcess();
    for (const { shell } of commandsOf(page('service.md'), 'curl')) await paste(shell, url);
    const answers = [];
    for (const { shell } of commandsOf(page('control-api.md'), 'curl')) {
      answers.push(JSON.parse(await paste(shell, url)) as Record<string, unknown>);
      if (answers.length === 1)
        expect(await ask(`${url}/payout/initiate`, 'sk_test_try', {})).toMatchObject({ status: 500 });
    }
    expect(answers).toMatchObject([
      { id: 'world/lost-response' },
      { changes: [{ to: 'SUCCESS' }] }, // the payout was made even so
      { passed: true, counts: { error: 0, warning: 1 } }, // nobody asked for the payout
      { balance: 998_499.5, invariants: 'hold' }, // a fork
    ]);
    const [, words] = /^payout-sandbox (pay .+)$/m.exec(page('cli.md'))!;
    const paid = await runInProcess(words!.split(' '), { SANDBOX_URL: url });
    expect(paid).toMatchObject({ code: 0, stdout: expect.stringContaining('PENDING') });
  },
);

test('the snippets of docs/library.md run unchanged, and the error that it shows is the one that is thrown', async () => {
  const text = page('library.md');
  const [start, proof] = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, snippet]) => snippet!);
  const run = (snippet: string) => new Program(process.execPath, ['--input-type=module', '-e', snippet], {});
  const [started, proved] = [run(start!).ended, run(proof!).ended];
  expect(await started).toMatchObject({ code: 0, stdout: '0 1000500\n', stderr: '' });
  const [, shown] = /```\n(ExpectationError: .*?)```/s.exec(text)!;
  const { code, stderr } = await proved;
  expect({ code, shown: stderr.slice(0, shown!.length) }).toEqual({ code: 0, shown });
  expect(stderr.slice(shown!.length)).toMatch(/^ {4}at file:.*\[eval1\]:12:\d+/);
});

/** The names of what an object offers: its own properties and the methods of its classes. */
function membersOf(value: object): string[] {
  const names = Object.keys(value);
  for (let at = value; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    names.push(...Object.getOwnPropertyNames(at));
  }
  return [...new Set(names)].filter((name) => name !== 'constructor');
}

test('docs/library.md lists exactly the members of a sandbox, a world and its clock', async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const world = sandbox.world();
  const listed = (heading: string): string[] =>
    listUnder(page('library.md'), heading).flatMap(([members]) =>
      members
        .replaceAll(/\(.*?\)/g, '')
        .split(', ')
        .filter((name) => !name.includes(' ')) // functions of the package, and `await using`
        .map((name) => name.replace(/^(clock)?\./, '')),
    );
  expect(listed('World').toSorted()).toEqual(
    [...membersOf(world).filter((name) => name !== 'clock'), ...membersOf(world.clock)].toSorted(),
  );
  expect(listed('Sandbox').toSorted()).toEqual(
    [...membersOf(sandbox), 'connectSandbox', 'startSandbox'].toSorted(),
  );
});

/** The same with vitest, jest and mocha: .ci/check-consumers. */
testRows([
  ['examples/node-test.mjs', 3],
  ['examples/adapter/node-test.mjs', 2],
])('the examples for node:test pass unchanged', async (file, tests) => {
  const patient = { PAYOUT_TIMEOUT_MS: '60000' }; // a busy machine must not look like a hang
  const program = new Program(process.execPath, ['--test', fileOf(file)], patient);
  expect(await program.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`pass ${tests}\n`) });
});

test('docs/referee.md describes every check, and names its highest severity first', () => {
  const described = listUnder(page('referee.md'), 'The checks');
  const { checks } = judge('docs', {
    requests: [],
    evicted: 0,
    ledger: { payouts: [], entries: [] },
    wall_now: null,
    clientEnded: true,
  });
  expect(described.map(([id]) => id.replaceAll('*', ''))).toEqual(checks.map(({ id }) => id));
  const severities = { error: /^Error/, warning: /^Warning/, notice: /^Notice/ };
  for (const [nth, { severity }] of checks.entries())
    expect(described[nth]![1]).toMatch(severities[severity]);
});

/** The first block of docs/hunt.md in a language. */
const blockOf = (language: string): string => {
  const blocks = [...page('hunt.md').matchAll(/^```(\w*)\n(.*?)\n```$/gms)];
  return blocks.find(([, name]) => name === language)![2]!;
};

const withoutNumbers = (text: string): string => text.replaceAll(/[\d.]+/g, 'N');

test.each(isLong ? ['docs/hunt.md'] : [])(
  'the command and the test of %s have the results that the page shows, and find nothing once the client is fixed',
  async () => {
    const source = page('examples/pay-once.mjs');
    const wrongLine = blockOf('diff').slice(1);
    expect(source).toContain(wrongLine);
    const fixed = source.replace(wrongLine, '');
    const folder = folderWith({ 'pay-once.mjs': source, 'fixed.mjs': fixed });
    const patient = { PAYOUT_TIMEOUT_MS: '4000' }; // a busy machine must not look like a hang
    const run = (command: string, more = {}) =>
      runProgram(command.trim().split(' ').slice(1), { ...patient, ...more }, folder);
    const parts = (text: string) => text.trim().split(/\n\n(?:Run it again:\n)?/) as [string, string, string];
    const [story, again, summary] = parts(blockOf(''));

    const { code, stdout } = await run(blockOf('sh'));
    const shown = parts(stdout);
    expect({ code, shown }).toEqual({ code: 1, shown: [story, again, expect.any(String)] });
    expect(withoutNumbers(shown[2])).toBe(withoutNumbers(summary));
    expect(await run(again.replace('pay-once', 'fixed'), { SANDBOX_SETTLEMENT: 'instant' })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^world \w+\n(?: +(?!error|warning).*\n)* .*1[12] checks passed/m), // a notice depends on the speed
    });

    const huntOfFixed = blockOf('sh').replace('--write found', '--runs 60').replace('pay-once', 'fixed');
    expect(await run(huntOfFixed)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('found nothing'),
    });

    const snippet = blockOf('js').replace('./pay-once.mjs', join(folder, 'pay-once.mjs'));
    const test = new Program(process.execPath, ['--input-type=module', '-e', snippet], patient);
    const found = { code: 1, stdout: expect.stringContaining('paid-twice: 000123456789') };
    expect(await test.ended).toMatchObject(found);
  },
);
