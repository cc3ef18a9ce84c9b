import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SERVICE_REFUSALS } from '../../src/contract/errors.ts';
import { connectSandbox } from '../../src/index.ts';
import { TEMPLATE_NAMES } from '../../src/scenario/template.ts';
import { SETTINGS } from '../../src/settings.ts';
import { commandsOf, listUnder, tableIn, tableUnder } from '../support/markdown.ts';
import { hasCurl } from '../support/paying-command.ts';
import { paste, Program, runInProcess, serveInProcess } from '../support/program.ts';
import { fileWith } from '../support/temporary-folder.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const README = fileOf('README.md');

test('docs/settings.md lists exactly the settings', () => {
  expect(listUnder(fileOf('docs/settings.md'), 'Flags and variables')).toEqual(
    SETTINGS.map(({ flag, value, env, defaultText, description }) => [
      `${flag} ${value}, ${env}, default ${defaultText}`,
      description,
    ]),
  );
});

test('docs/errors.md lists exactly the refusals of the service', () => {
  expect(tableIn(fileOf('docs/errors.md'))).toEqual(
    Object.entries(SERVICE_REFUSALS).map(([code, { status, message }]) => [code, String(status), message]),
  );
});

/** A response without the parts that depend on time: timestamps, and the date in a UTR. */
const timeless = (answer: string): string =>
  answer.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>').replaceAll(/"utr":"\d{4}/g, '"utr":"<day>');

test.skipIf(!hasCurl)('the curl commands of the README print the responses of the README', async () => {
  const { url } = await serveInProcess();
  const { clock } = connectSandbox({ url }).world('sk_test_demo');
  const curls = commandsOf(README, 'curl');
  expect(curls).toHaveLength(3);
  for (const { shell, answer } of curls) {
    expect(timeless(await paste(shell, url))).toBe(timeless(answer!));
    await clock.advance('2s'); // as a reader takes time until the next
  }
});

test('the test of the README runs unchanged', async () => {
  const [, snippet] = /```js\n(.*?)```/s.exec(README)!;
  const program = new Program(process.execPath, ['--input-type=module', '-e', snippet!], {});
  expect(await program.ended).toMatchObject({ code: 0, stdout: 'SUCCESS 998499.5\n', stderr: '' });
});

test('the referee says what the README shows about the client of the README', async () => {
  const [, command, verdict] = /```sh\nnode dist\/main\.cjs (referee .*)\n```\n\n```\n(.*?)\n```/s.exec(
    README,
  )!;
  const { code, stdout } = await runInProcess(command!.replaceAll("'", '').split(' '));
  const lines = stdout.split('\n');
  expect(code).toBe(1);
  expect(verdict!.split('\n').filter((line) => !lines.includes(line))).toEqual([]);
});

test('the scenario of docs/scenarios.md is valid, without a warning', async () => {
  const [, text] = /```yaml\n(.*?)```/s.exec(fileOf('docs/scenarios.md'))!;
  const file = fileWith('mine.yaml', text!);
  expect(await runInProcess(['validate', file])).toMatchObject({
    code: 0,
    stdout: `${file}: ok, 4 rules, 1 outcome\n`,
  });
});

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
}

test('docs/scenarios.md lists every field of a scenario', () => {
  const schema = JSON.parse(fileOf('fixtures/scenario.schema.json')) as ObjectSchema & {
    readonly $defs: Readonly<Record<string, ObjectSchema>>;
  };
  const { Outcome, Rule, Match, Effect, Step, Respond } = schema.$defs;
  const page = fileOf('docs/scenarios.md');
  const parts = listUnder(page, 'Parts of an effect').map(([part]) => part.split(' ', 1)[0]!);
  expect(parts.toSorted()).toEqual(Object.keys(Effect!.properties).toSorted());
  const tables = {
    'Fields of a scenario': schema,
    'Fields of an outcome': Outcome,
    'Fields of a rule': Rule,
    'Conditions of a match': Match,
    'Steps of a timeline': Step,
    'Parts of a response': Respond,
  };
  for (const [heading, table] of Object.entries(tables)) {
    const listed = tableUnder(page, heading).map(([field]) => field!);
    expect(listed.toSorted()).toEqual(Object.keys(table!.properties).toSorted());
  }
});

test('docs/scenarios.md lists every value of the request that a response can contain', () => {
  const names = [...fileOf('docs/scenarios.md').matchAll(/`\{\{(\w+)\}\}`/g)].map(([, name]) => name);
  expect(new Set(names)).toEqual(new Set(TEMPLATE_NAMES));
});

test('the README has the numbers of built-in scenarios and magic beneficiaries', () => {
  const files = readdirSync(new URL('../../fixtures/scenarios', import.meta.url));
  expect(README).toContain(`${files.length} come with the sandbox`);
  expect(README).toContain(`has all ${tableIn(fileOf('docs/magic.md')).length}: `);
});
