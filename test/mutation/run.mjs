// Changes the code in thousands of small ways, one at a time, and asks for each whether a test notices: docs/reliability.md.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { allMutants, ROOT, writeMutated } from './mutants.mjs';
import { chosen } from './chosen-tests.mjs';
import { inParallel, runTests, WORK } from './processes.mjs';
import { report } from './report.mjs';

const AT_ONCE = 500;
/** A test that waits for longer than this is not asked. */
const SLOW_MS = 3000;
/** So much of the processor's time is spent on a mutant that no test kills; more for one that is met only while modules load. */
const BUDGET_MS = { tries: 1500, loading: 3000 };

const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith('--'));
const only =
  args
    .find((arg) => arg.startsWith('--tests='))
    ?.slice('--tests='.length)
    .split(',') ?? [];
const onlySurvivors = args.includes('--survivors');

const startedMs = Date.now();
const say = (text) =>
  process.stdout.write(`${String(Math.round((Date.now() - startedMs) / 1000)).padStart(5)} s  ${text}\n`);

rmSync(`${WORK}reports`, { recursive: true, force: true });
mkdirSync(`${WORK}reports`, { recursive: true });
const all = allMutants();
writeMutated(WORK);

const resultsFile = `${WORK}results.json`;
const results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {};
const asked = all.filter(
  ({ file, key }) =>
    (names.length === 0 || names.some((name) => file.includes(name))) &&
    (!onlySurvivors || results[key]?.how === undefined),
);

// 1. Which test meets which mutants, and how long it takes
const survey = await runTests({ kind: 'survey' }, only);
const tests = survey.lines.filter(({ test }) => test !== undefined);
if (tests.length === 0) throw new Error(`no tests ran: ${survey.output}`);
const broken = tests.filter(({ state }) => state === 'fail');
for (const { name, why } of broken) say(`not asked, since it fails without a mutant (${why}): ${name}`);
const able = tests.filter(
  ({ state, ms, waitedMs }) => state === 'pass' && waitedMs <= SLOW_MS && ms <= BUDGET_MS.tries,
);
const loading = new Set(survey.lines.flatMap((line) => line.loading ?? []));
const meeting = new Map();
for (const test of able)
  for (const number of test.met) meeting.set(number, [...(meeting.get(number) ?? []), test]);
say(
  `${asked.length} of ${all.length} mutants; ${tests.length} tests, ${able.length} of them quick enough to be asked`,
);

const kills = new Map();
const keep = () => {
  for (const { number, key } of asked) {
    const { how, test } = kills.get(number) ?? {};
    results[key] = { isMet: meeting.has(number) || loading.has(number), ...(how && { how, test }) };
  }
  const known = Object.fromEntries(
    all.filter(({ key }) => key in results).map(({ key }) => [key, results[key]]),
  );
  writeFileSync(resultsFile, JSON.stringify(known, null, 1));
};

/** Tries mutants in the tests that meet them, in one process, or in more when a mutant ends it. */
async function tryAll(mutants) {
  const done = new Set();
  const pairs = mutants.flatMap(({ number }) =>
    chosen(meeting.get(number) ?? [], BUDGET_MS.tries).map(({ test }) => ({ test, number })),
  );
  const turns = Object.fromEntries(able.map((one) => [one.test, one.turns]));
  for (;;) {
    const tries = {};
    for (const { test, number } of pairs)
      if (!done.has(test) && !kills.has(number)) (tries[test] ??= []).push(number);
    if (Object.keys(tries).length === 0) return;
    const files = new Set(able.filter(({ test }) => test in tries).map(({ file }) => file));
    const { lines, output } = await runTests({ kind: 'tries', tries, turns }, [...files]);
    for (const line of lines) {
      if (line.killed !== undefined) kills.set(line.killed, line);
      if (line.done !== undefined) done.add(line.done);
      if (line.spoilt !== undefined)
        say(`does not pass any more after its mutants, so it proves nothing: ${line.spoilt}`);
    }
    if (
      Object.entries(tries).every(([test, of]) => done.has(test) || of.every((number) => kills.has(number)))
    )
      return;
    const last = lines.findLast(({ trying }) => trying !== undefined)?.trying;
    if (last === undefined || kills.has(last)) throw new Error(`the tests did not run: ${output}`);
    kills.set(last, { how: 'stuck', test: '' }); // it ended the process, or had to be ended with it
  }
}

// 2. Every mutant in the tests that meet it
const chunks = [];
for (let at = 0; at < asked.length; at += AT_ONCE) chunks.push(asked.slice(at, at + AT_ONCE));
await inParallel(chunks, async (chunk) => {
  await tryAll(chunk);
  keep();
  say(
    `${chunk[0].file} to ${chunk.at(-1).file}: ${chunk.filter(({ number }) => kills.has(number)).length} of ${chunk.length} killed`,
  );
});

// 3. What is evaluated while modules load: each in a process of its own, in tests that use its file
const unloaded = asked.filter(({ number }) => loading.has(number) && !kills.has(number));
say(`${unloaded.length} mutants are loaded anew`);
await inParallel(unloaded, async ({ number, file }) => {
  const near = new Set(
    all.filter((one) => one.file === file).flatMap((one) => meeting.get(one.number) ?? []),
  );
  const some = chosen([...near], BUDGET_MS.loading);
  if (some.length === 0) return;
  const plan = { kind: 'loading', mutant: number, tests: some.map(({ test }) => test) };
  const { lines, code } = await runTests(plan, ['--bail', '1', ...new Set(some.map((one) => one.file))]);
  const line = lines.find(({ killed }) => killed !== undefined);
  if (line !== undefined || code !== 0) kills.set(number, line ?? { how: 'not loaded', test: '' });
  keep();
});
say('done');
process.exitCode = report(all, asked, results, ROOT) ? 0 : 1;
