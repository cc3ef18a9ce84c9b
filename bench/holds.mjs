// How long single requests of the control API keep every other client waiting: the longest turn of the event loop while each is
// handled, in processor time.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figure, median, printTable } from './figures.mjs';
import { payoutOf } from './payout.mjs';
import { startStore } from './store-process.mjs';

const MAX_MS = 100;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const MAIN = process.env.BENCH_MAIN ?? path('../dist/main.cjs');
const ADMIN = 'admin-token-of-the-bench';
const ROUNDS = 3; // of each, in a process of its own
process.setMaxListeners(0);

/** Starts the program with the probe. @param flags of the command line */
async function start(flags) {
  const child = spawn(
    process.execPath,
    [
      '--import',
      path('hold-probe.mjs'),
      MAIN,
      '--port',
      '0',
      '--admin-token',
      ADMIN,
      '--rate-limit',
      'off',
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  process.once('exit', () => child.kill('SIGKILL'));
  let text = '';
  const lines = [];
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const parts = (text + chunk).split('\n');
    text = parts.pop();
    lines.push(...parts);
    child.emit('line');
  });
  const line = async (pattern) => {
    for (;;) {
      const found = lines.find((one) => pattern.test(one));
      if (found !== undefined) return found;
      await once(child, 'line');
    }
  };
  const { url } = JSON.parse(await line(/payout sandbox ready/));
  return { url, child, line };
}

/** One request. @returns its text */
async function ask(
  { url },
  method,
  route,
  body,
  { key = 'sk_test_holds', type = 'application/json', wanted = 200 } = {},
) {
  const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': type }) };
  const response = await fetch(`${url}${route}`, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (response.status !== wanted)
    throw new Error(`${method} ${route}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

async function longestDuring({ child }, work) {
  child.send('watch');
  await new Promise((resolve) => setTimeout(resolve, 20));
  await work();
  child.send('longest');
  const [ms] = await once(child, 'message');
  return ms;
}

const effect = { delay: '1ms' };
const many = (length, item) => Array.from({ length }, (_, nth) => item(nth));
const mediumRules = (count) =>
  many(count, (nth) => ({
    name: `r${nth}`,
    match: { route: 'initiate', client_ref_id: `order-${nth}`, transfer_mode: 'IMPS' },
    effect,
  }));
/** A pattern that takes as long to compile and to test as one may. */
const patternRule = (nth) => ({
  match: { remarks: { matches: `${'.{0,30}'.repeat(5)}${'.?'.repeat(75)}[c-e]$|${nth}` } },
  effect,
});
/** A rule whose answer holds nearly as many values as a rule may. */
const longRule = (name) => ({ name, effect: { respond: { status: 200, body: many(4900, () => []) } } });
/** Rules of which none matches, each for a reason of its own, with as many patterns as a scenario may have. */
const differentRules = (count) =>
  many(count, (nth) => ({
    name: `r${nth}`,
    match: {
      route: 'initiate',
      transfer_mode: 'IMPS',
      client_ref_id: nth < 20 ? { matches: `x${nth}` } : { suffix: `-${nth}x` },
    },
    effect,
  }));
const longRules = (count) => many(count, (nth) => longRule(`r${nth}`));
const wrongMatch = (count) => ({ client_ref_id: many(count, () => 1) });
const wrongSteps = (count) => ({ rules: [{ name: 'r', effect: { timeline: many(count, () => ({})) } }] });

/** A snapshot whose world is changed, with the right checksum. */
async function changedSnapshot(sandbox, change) {
  const text = await ask(sandbox, 'GET', '/_sandbox/state', undefined, { key: 'sk_test_original' });
  const [head, world, ...rest] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const lines = [world, ...rest.filter((line) => 'entry' in line)];
  const changed = change(lines);
  const body = changed.map((line) => `${JSON.stringify(line)}\n`).join('');
  const checksum = createHash('sha256').update(body).digest('hex');
  return `${JSON.stringify(head)}\n${body}${JSON.stringify({ end: world.world, checksum })}\n${JSON.stringify({ worlds: 1 })}\n`;
}
const withScenario =
  (document) =>
  ([world, ...rest]) => [
    { ...world, scenario: { ...world.scenario, source: { ...world.scenario.source, document } } },
    ...rest,
  ];
const withRules = (rules) => (lines) => [...lines, ...rules.map((rule) => ({ rule }))];

async function payMany(sandbox, count) {
  const pay = (nth) => ask(sandbox, 'POST', '/payout/initiate', JSON.stringify(payoutOf(`order-${nth}`)));
  for (let nth = 0; nth < count; nth += 50)
    await Promise.all(Array.from({ length: 50 }, (_, more) => pay(nth + more)));
}

/** Opens a reader of events that takes whatever comes. */
async function readEvents({ url }) {
  const { port, hostname } = new URL(url);
  const socket = connect(port, hostname);
  socket.write(
    'GET /_sandbox/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sk_test_holds\r\n\r\n',
  );
  await once(socket, 'data');
  socket.resume();
  return socket;
}

const folder = mkdtempSync(join(tmpdir(), 'payout-holds-'));
const yaml = (count) =>
  `rules:\n${Array.from({ length: count }, (_, nth) => `  - { name: r${nth}, match: { route: status }, effect: { delay: 1ms } } # ${'a comment '.repeat(5)}\n`).join('')}`;
/** As much text as is checked: rules with different prefixes, each of which is compared with those before it. */
const checkedText = (value = 'delay: 1ms') =>
  `rules:\n${Array.from({ length: 100 }, (_, nth) => `  - { name: rule-${nth}, match: { route: initiate, client_ref_id: { prefix: 'order-${nth}-and-as-much-text-as-a-pattern-had' } }, times: 3, effect: { ${value} } }\n`).join('')}`;
const put = (route, document, options) => (sandbox) =>
  ask(sandbox, 'PUT', route, JSON.stringify(document), options);
const post = (route, document, options) => (sandbox) =>
  ask(sandbox, 'POST', route, JSON.stringify(document), options);
const restore = (sandbox, text) =>
  ask(sandbox, 'PUT', '/_sandbox/state', text, { type: 'application/x-ndjson' });

let store;
/** One store for all that need one. */
const storeOfAll = () => (store ??= startStore());

/** By what is asked: what prepares it, and the request. */
const CASES = {
  'the first GET scenarios': { run: (sandbox) => ask(sandbox, 'GET', '/_sandbox/scenarios') },
  'the first GET openapi.json': { run: (sandbox) => ask(sandbox, 'GET', '/_sandbox/openapi.json') },
  'PUT scenario: 200 rules in 64 KiB': { run: put('/_sandbox/scenario', { rules: mediumRules(200) }) },
  'PUT scenario: 20 patterns of 200 characters': {
    run: put('/_sandbox/scenario', { rules: many(20, (nth) => patternRule(nth)) }),
  },
  'POST initiate: a text of 200 characters, and as many patterns': {
    prepare: put('/_sandbox/scenario', { rules: many(20, (nth) => patternRule(nth)) }),
    run: post('/payout/initiate', { ...payoutOf('order-1'), remarks: `c${'a'.repeat(199)}` }),
  },
  'PUT scenario: 4,000 wrong rules': {
    run: put('/_sandbox/scenario', { rules: many(4000, () => ({ nam: 1 })) }, { wanted: 400 }),
  },
  'PUT scenario: one response with 4,900 lists': {
    run: put('/_sandbox/scenario', { rules: [longRule('long')] }),
  },
  'PUT scenario: 4,900 wrong texts in one rule': {
    run: put(
      '/_sandbox/scenario',
      { rules: [{ name: 'r', match: wrongMatch(4900), effect }] },
      { wanted: 400 },
    ),
  },
  'PUT scenario: 4,900 wrong steps in one rule': {
    run: put('/_sandbox/scenario', wrongSteps(4900), { wanted: 400 }),
  },
  'PUT scenario: 20,000 wrong steps in one rule': {
    run: put('/_sandbox/scenario', wrongSteps(20_000), { wanted: 400 }),
  },
  'POST requests/verify: 4,900 wrong texts': {
    run: post('/_sandbox/requests/verify', { match: wrongMatch(4900) }, { wanted: 400 }),
  },
  'POST rules: one response with 4,900 lists': {
    run: post('/_sandbox/rules', longRule('long'), { wanted: 201 }),
  },
  'POST rules: the same on top of 60 of them': {
    prepare: async (sandbox) => {
      for (const rule of longRules(60)) await post('/_sandbox/rules', rule, { wanted: 201 })(sandbox);
    },
    run: post('/_sandbox/rules', longRule('long'), { wanted: 201 }),
  },
  'PUT state: a scenario of 200 rules in 64 KiB': {
    prepare: (sandbox) => changedSnapshot(sandbox, withScenario({ rules: mediumRules(200) })),
    run: restore,
  },
  'PUT state: 60 overrides with 4,900 lists each': {
    prepare: (sandbox) => changedSnapshot(sandbox, withRules(longRules(60))),
    run: restore,
  },
  'advance over 4,000 settlements, 32 event readers': {
    prepare: async (sandbox) => {
      await ask(sandbox, 'POST', '/_sandbox/clock/freeze');
      await payMany(sandbox, 4000);
      return Promise.all(Array.from({ length: 32 }, () => readEvents(sandbox)));
    },
    run: (sandbox) => ask(sandbox, 'POST', '/_sandbox/clock/advance', '{"until":"idle"}'),
    end: (sockets) => sockets.forEach((socket) => socket.destroy()),
  },
  'POST scenario/check: 100 rules in 15 KiB of YAML': {
    run: post('/_sandbox/scenario/check', { text: checkedText() }),
  },
  'POST scenario/check: the same with 100 errors': {
    run: post('/_sandbox/scenario/check', { text: checkedText('dely: 1ms') }),
  },
  'GET scenario with 200 rules': {
    prepare: put('/_sandbox/scenario', { rules: mediumRules(200) }),
    run: (sandbox) => ask(sandbox, 'GET', '/_sandbox/scenario'),
  },
  'the first POST rules/explain with 200 rules and 20 patterns': {
    prepare: put('/_sandbox/scenario', { rules: differentRules(200) }),
    run: post('/_sandbox/rules/explain', { route: 'initiate', body: payoutOf('order-1') }),
  },
  'POST requests/verify: a sequence of 100 over 1,000 requests': {
    prepare: (sandbox) => payMany(sandbox, 1000),
    run: post('/_sandbox/requests/verify', {
      sequence: many(100, (nth) => ({ client_ref_id: { suffix: `-${nth}` }, status: 200 })),
    }),
  },
  'GET referee over 1,000 requests': {
    prepare: (sandbox) => payMany(sandbox, 1000),
    run: (sandbox) => ask(sandbox, 'GET', '/_sandbox/referee'),
  },
  'GET requests: 1,000 of them': {
    prepare: (sandbox) => payMany(sandbox, 1000),
    run: (sandbox) => ask(sandbox, 'GET', '/_sandbox/requests?limit=1000'),
  },
  'GET worlds with 10,000 worlds': {
    prepare: async (sandbox) => {
      for (let nth = 0; nth < 10_000; nth += 50)
        await Promise.all(
          Array.from({ length: 50 }, (_, more) =>
            ask(sandbox, 'GET', '/client/fetchbalance', undefined, { key: `sk_test_${nth + more}` }),
          ),
        );
    },
    run: (sandbox) => ask(sandbox, 'GET', '/_sandbox/worlds', undefined, { key: ADMIN }),
  },
  'a world of a store whose scenario of 200 rules another server chose': {
    needs: 'redis-server',
    flags: async () => ['--store', (await storeOfAll()).url],
    prepare: async (_sandbox, flags) => {
      const other = await start(flags);
      await put('/_sandbox/scenario', { rules: mediumRules(200) })(other);
      other.child.kill('SIGKILL');
    },
    run: (sandbox) => ask(sandbox, 'GET', '/_sandbox/world'),
  },
  'a reload of 60 KiB of YAML': {
    flags: () => ['--scenarios', folder],
    run: async (sandbox) => {
      writeFileSync(join(folder, 'mine.yaml'), yaml(480));
      await sandbox.line(/scenario reloaded/);
      rmSync(join(folder, 'mine.yaml'));
    },
  },
  'a reload of 60 KiB of wrong YAML': {
    flags: () => ['--scenarios', folder],
    run: async (sandbox) => {
      writeFileSync(join(folder, 'mine.yaml'), yaml(480).replaceAll('delay', 'dely'));
      await sandbox.line(/scenario refused/);
      rmSync(join(folder, 'mine.yaml'));
    },
  },
};

const wanted = process.argv[2] ?? '';
for (const [what, { needs, flags: flagsOf = () => [], prepare, run, end }] of Object.entries(CASES)) {
  if (!what.includes(wanted)) continue;
  if (needs !== undefined && spawnSync(needs, ['--version']).status !== 0) {
    process.stderr.write(`${needs} is not installed: ${what} is not measured\n`);
    continue;
  }
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const flags = await flagsOf();
    const sandbox = await start(flags);
    try {
      const prepared = await prepare?.(sandbox, flags);
      times.push(await longestDuring(sandbox, () => run(sandbox, prepared)));
      end?.(prepared);
    } finally {
      const exit = once(sandbox.child, 'exit');
      sandbox.child.kill('SIGKILL'); // the probe keeps it busy
      await exit;
    }
  }
  figure(what, median(times), 'ms', MAX_MS);
}
rmSync(folder, { recursive: true });
printTable();
process.exit(); // the store still runs
