import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { linesOf, serveInProcess } from '../support/program.ts';
import { connectSandbox } from '../../src/index.ts';
import { clientFor, clientOf, sandboxFor } from '../support/sandbox.ts';
import { folderWith } from '../support/temporary-folder.ts';

/** A scenario that answers every initiate with this status. */
const respondingWith = (status: number): string =>
  `rules: [{ name: always, match: { route: initiate }, effect: { respond: { status: ${status} } } }]\n`;

const ADMIN_TOKEN = 'the-token-of-the-admin';

/** Serves a scenario, and perhaps a folder of others. `status` is that of an initiate. */
async function serve(scenario: string, scenarios?: string) {
  const { url, log } = await serveInProcess({
    SANDBOX_SCENARIO: scenario,
    ...(scenarios !== undefined && { SANDBOX_SCENARIOS: scenarios }),
    SANDBOX_RATE_LIMIT: 'off',
    SANDBOX_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  const clientWith = (key: string) => clientOf(connectSandbox({ url }).world(key));
  const world = clientWith('sk_test_choice');
  return { log, clientWith, world, status: async () => (await world.pay()).status };
}

test('a file, a name in the scenarios folder or a document chooses the scenario of all worlds', async () => {
  const folder = folderWith({
    'mine.yaml': respondingWith(503),
    'other.json': '{"wallet":{"opening_balance":5}}',
  });
  const document = { rules: [{ name: 'a', effect: { respond: { status: 503 } } }] };
  for (const scenario of [join(folder, 'mine.yaml'), document]) {
    const { client } = await sandboxFor({ scenario });
    expect((await client().pay()).status).toBe(503);
  }
  const world = await clientFor({ scenario: 'other', scenarios: folder });
  expect((await world.balance()).body.data.balance).toBe(5);
  expect((await world.pay()).status).toBe(402);
});

test('a changed scenario file takes effect; an invalid one is logged, and the last good one stays active', async () => {
  const folder = folderWith({ 'mine.yaml': respondingWith(503) });
  const file = join(folder, 'mine.yaml');
  const { log, status } = await serve(file);
  /** Like editors: written beside the file, then renamed over it. A file that is emptied first may be read while it is empty. */
  const replace = (text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  expect(await status()).toBe(503);

  writeFileSync(file, respondingWith(504));
  await expect.poll(status).toBe(504);

  replace('rules: [{ name: always, efect: {} }]\n');
  await expect.poll(log).toMatch(/scenario refused/);
  expect(await status()).toBe(504);

  replace(respondingWith(505));
  await expect.poll(status).toBe(505);

  const [refused] = linesOf(log(), 'scenario refused: the last good one stays active');
  expect(refused!['problems']).toEqual(
    expect.arrayContaining([`${file}:1:25 rules[0].efect is not known here (did you mean effect?)`]),
  );
});

test('a scenario added to the folder can be chosen without a restart, and replaces a built-in one, also in use', async () => {
  const folder = folderWith({});
  const { log, clientWith, status } = await serve('server-error', folder);
  const late = clientWith('sk_test_late');
  const chosen = (): Promise<number> =>
    late.world.use('late').then(
      async () => (await late.balance()).status,
      () => 404,
    );
  expect([await chosen(), await status()]).toEqual([404, 500]);
  writeFileSync(join(folder, 'late.yaml'), 'rules: [{ effect: { respond: 418 } }]\n');
  writeFileSync(join(folder, 'server-error.yaml'), respondingWith(599));
  await expect.poll(chosen).toBe(418);
  await expect.poll(status).toBe(599);

  writeFileSync(join(folder, 'late.yml'), 'rules: [{ effect: { respond: 419 } }]\n');
  await expect.poll(log).toMatch(/late\.yml has the same name as .*late\.yaml: scenarios are chosen by name/);
  expect(await chosen()).toBe(418);
  rmSync(join(folder, 'late.yaml'));
  writeFileSync(join(folder, 'late.yml'), 'rules: [{ effect: { respond: 420 } }]\n');
  await expect.poll(chosen).toBe(420);
});

test('a folder of scenarios that is replaced, or that is a ConfigMap of Kubernetes, is followed', async () => {
  const parent = folderWith({});
  const folder = join(parent, 'scenarios');
  const write = (into: string, status: number): void => {
    mkdirSync(into);
    writeFileSync(join(into, 'mine.yaml'), respondingWith(status));
  };
  write(folder, 500);
  const { log, clientWith, status } = await serve('mine', folder);
  rmSync(folder, { recursive: true });
  write(folder, 501);
  await expect.poll(status).toBe(501);
  writeFileSync(join(folder, 'mine.yaml'), respondingWith(502));
  await expect.poll(status).toBe(502);

  rmSync(join(folder, 'mine.yaml'));
  write(join(folder, '..first'), 503);
  symlinkSync('..first', join(folder, '..data'));
  symlinkSync('..data/mine.yaml', join(folder, 'mine.yaml'));
  await expect.poll(status).toBe(503);
  write(join(folder, '..second'), 504);
  symlinkSync('..second', join(folder, '..next'));
  renameSync(join(folder, '..next'), join(folder, '..data'));
  await expect.poll(status).toBe(504);

  renameSync(folder, `${folder}.moved`);
  const unwatched = 'scenario folder not watched: POST /_sandbox/scenarios/reload reads it';
  const lines = [{ folder, reason: 'no such file or folder' }];
  await expect.poll(() => linesOf(log(), unwatched)).toMatchObject(lines);
  expect(log()).not.toContain('scenario refused');
  expect(await status()).toBe(504);
  write(folder, 505);
  const { body } = await clientWith(ADMIN_TOKEN).send('POST', '/_sandbox/scenarios/reload');
  expect(body).toEqual({ reloaded: [join(folder, 'mine.yaml')], problems: [] });
  expect(await status()).toBe(505);
});

test('a scenario file behind a link is read again when it changes', async () => {
  const target = folderWith({ 'target.yaml': respondingWith(503) });
  const folder = folderWith({});
  symlinkSync(join(target, 'target.yaml'), join(folder, 'mine.yaml'));
  const { status } = await serve(join(folder, 'mine.yaml'));
  writeFileSync(join(target, 'target.yaml'), respondingWith(504));
  await expect.poll(status).toBe(504);
});

test('files beside the active scenario file are ignored', async () => {
  const folder = folderWith({ 'mine.yaml': respondingWith(503) });
  const file = relative(process.cwd(), join(folder, 'mine.yaml'));
  const { log, world, status } = await serve(file);
  writeFileSync(join(folder, 'compose.yaml'), 'services: {}\n');
  writeFileSync(join(folder, 'other.yaml'), respondingWith(418));
  writeFileSync(join(folder, 'mine.yaml'), respondingWith(504)); // read after the others
  await expect.poll(status).toBe(504);
  await expect(world.world.use('other')).rejects.toThrow('other');
  expect(log()).not.toContain('scenario refused');
});

test.each(['world', 'magic', 'default'])('a scenario cannot be named %s, which is reserved', async (name) => {
  const folder = folderWith({ [`${name}.yaml`]: respondingWith(503) });
  const started = sandboxFor({ scenario: join(folder, `${name}.yaml`) });
  await expect(started).rejects.toThrow(`${name}.yaml must have another name`);
});
