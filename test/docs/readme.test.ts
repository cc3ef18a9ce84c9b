import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { TEMPLATE_NAMES } from '../../src/scenario/template.ts';
import { SETTINGS } from '../../src/settings.ts';
import { commandsOf, listUnder, tableUnder } from '../support/markdown.ts';
import { hasCurl } from '../support/paying-command.ts';
import { MAIN, paste, Program, runInProcess, serveInProcess } from '../support/program.ts';
import { folderWith, projectFolder } from '../support/temporary-folder.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const README = fileOf('README.md');

test('docs/settings.md lists exactly the settings, six of them first', () => {
  const page = fileOf('docs/settings.md');
  const first = listUnder(page, 'The six that most people set');
  expect(first).toHaveLength(6);
  expect(Object.fromEntries([...first, ...listUnder(page, 'All others')])).toEqual(
    Object.fromEntries(
      SETTINGS.map(({ flag, value, env, defaultText, description }) => [
        `${flag} ${value}, ${env}, default ${defaultText}`,
        description,
      ]),
    ),
  );
});

/** A response without the parts that depend on time: timestamps, and the date in a UTR. */
const timeless = (answer: string): string =>
  answer.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>').replaceAll(/"utr":"\d{4}/g, '"utr":"<day>');

test.skipIf(!hasCurl)('the curl commands of docs/service.md print the responses that it shows', async () => {
  const { url } = await serveInProcess();
  const { clock } = connectSandbox({ url }).world('sk_test_demo');
  const curls = commandsOf(fileOf('docs/service.md'), 'curl');
  expect(curls).toHaveLength(3);
  for (const { shell, answer } of curls) {
    expect(timeless(await paste(shell, url))).toBe(timeless(answer!));
    await clock.advance('2s'); // as a reader takes time until the next
  }
});

test('the test of the README fails as it says, the referee says why, and the fix passes', async () => {
  const [client, suite] = [...README.matchAll(/```js\n(.*?)```/gs)].map(([, text]) => text!);
  const [, command, verdict] =
    /```sh\nnode_modules\/\.bin\/payout-sandbox (referee .*)\n```\n\n```\n(.*?)\n```/s.exec(README)!;
  const folder = projectFolder();
  const judge = async (text: string) => {
    writeFileSync(join(folder, 'pay.mjs'), text);
    writeFileSync(join(folder, 'pay.test.mjs'), suite!);
    return new Program('sh', ['-c', `"${process.execPath}" "${MAIN}" ${command}`], {}, folder).ended;
  };
  const { code, stdout } = await judge(client!);
  expect({ code, stdout }).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(/`(\d+ !== \d+)`/.exec(README)![1]!),
  });
  const lines = stdout.split('\n');
  expect(verdict!.split('\n').filter((line) => !lines.includes(line))).toEqual([]);

  const [, fix] = /`(const body = .*?;)`/.exec(README)!;
  const fixed = await judge(client!.replace(/const body = .*;/, fix!));
  expect(fixed).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n {2}\d+ checks passed · /) });
});

test('the scenarios of docs/cookbook.md and of docs/scenarios.md are valid, without a warning', async () => {
  const text = `${fileOf('docs/cookbook.md')}${fileOf('docs/scenarios.md')}`;
  const scenarios = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, scenario]) => scenario!);
  expect(scenarios).toHaveLength(13);
  const folder = folderWith(Object.fromEntries(scenarios.map((one, nth) => [`${nth}.yaml`, one])));
  const files = scenarios.map((_, nth) => join(folder, `${nth}.yaml`));
  const { code, stdout } = await runInProcess(['validate', ...files]);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(?:\S+: ok.*\n){13}$/) });
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

test('docs/cookbook.md has the number of built-in scenarios', () => {
  const files = readdirSync(new URL('../../fixtures/scenarios', import.meta.url));
  expect(fileOf('docs/cookbook.md')).toContain(`${files.length} scenarios come with the sandbox`);
});
