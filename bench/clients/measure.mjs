// What popular HTTP clients do with a payout whose response is lost, and whether the referee says the same as the ledger: the table of
// docs/http-clients.md. By hand: `npm run bench:clients` (installs the clients first; a few minutes). Exits with 1 for a wrong verdict.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '../../dist/index.js';
import { CLIENTS } from './clients.mjs';

const folder = new URL('.', import.meta.url);
const PROGRAM = fileURLToPath(new URL('clients.mjs', folder));

const made = (effect) => [{ match: { route: 'initiate' }, effect: { commit: true, ...effect } }];
/** Every response is lost, except for the last column, where the second try passes. */
const SCENARIOS = {
  'no response': { rules: made({ fault: { kind: 'hang', for: '3s' } }) },
  'connection lost': { rules: made({ fault: 'connection-reset' }) },
  '5xx': { rules: made({ respond: { status: 500 } }) },
  'half a response': { rules: made({ fault: 'truncated-body' }) },
  '429 with Retry-After': {
    rules: [
      {
        match: { route: 'initiate' },
        times: 1,
        effect: { respond: { status: 429, headers: { 'retry-after': '1' } } },
      },
    ],
  },
};

/** The same client where a repeated reference pays again, or is refused. */
const DIALECTS = {
  'lost, no replay': {
    ...SCENARIOS['connection lost'],
    dialect: { client_ref_id: { same_body: 'second_payout' } },
  },
  'lost, then 409': {
    rules: [{ ...made({ fault: 'connection-reset' })[0], times: 1 }],
    dialect: { client_ref_id: { same_body: 409 } },
  },
};

async function run(name, world) {
  const env = { ...process.env, PAYOUT_URL: world.url, PAYOUT_KEY: world.apiKey };
  const child = spawn(process.execPath, [PROGRAM, name], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  return { code, output: output.trim().split('\n').at(-1) };
}

/** What a client did, in the words of the table, and what the ledger says of it. */
function behaviour({ requests, payouts, code }) {
  const sends = requests.length;
  const references = new Set(requests.map((request) => request.client_ref_id)).size;
  const ranged = requests.some((request) => request.request.headers.range !== undefined);
  const paid = payouts.filter(({ status }) => status === 'PENDING' || status === 'SUCCESS').length;
  if (requests[0]?.answer?.status === 429) {
    if (sends === 1) return 'gives up';
    const [first, second] = requests.map(({ wall_at, duration_ms }) => ({
      at: Date.parse(wall_at),
      took: duration_ms,
    }));
    const waited = second.at - first.at - first.took >= 950 ? 'waits' : '**ignores**';
    return references > 1 ? `${waited}, new references` : waited;
  }
  if (paid > 1) return `**paid ${paid}×**`;
  if (ranged) return '**POST with `Range`**';
  if (sends > 1) return `${sends} sends`;
  return code === 0 ? 'believes it' : 'blind';
}

/** What the referee must say, by the ledger and by what the client saw; null where nothing is wrong. */
function mustFind({ requests, payouts, code }) {
  const paid = payouts.filter(({ status }) => status === 'PENDING' || status === 'SUCCESS').length;
  if (paid > 1)
    return ['error', ['paid-twice', 'paid-more-often', 'same-payout-at-once', 'same-reference-at-once']];
  if (paid === 1 && code !== 0) return ['warning', ['never-asked']];
  const [first, second] = requests;
  if (first?.answer?.status === 429 && second !== undefined) {
    const pause = Date.parse(second.wall_at) - Date.parse(first.wall_at) - first.duration_ms;
    if (pause < 900) return ['warning', ['retry-after-ignored']];
  }
  return null;
}

function verdictOf(report, must) {
  const found = report.checks.flatMap(({ id, findings }) =>
    findings.map(({ severity }) => ({ id, severity })),
  );
  const grave = found.filter(({ severity }) => severity !== 'notice');
  if (must === null)
    return { isRight: grave.length === 0, said: grave.map(({ id }) => id).join(', ') || 'nothing' };
  const [severity, ids] = must;
  const isRight = grave.some((one) => one.severity === severity && ids.includes(one.id));
  const isFair = severity === 'error' || grave.every((one) => one.severity !== 'error');
  return { isRight: isRight && isFair, said: grave.map(({ id }) => id).join(', ') || 'nothing' };
}

const print = (line) => void process.stdout.write(`${line}\n`);

const { dependencies } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
const all = Object.entries({ ...SCENARIOS, ...DIALECTS });
const sandbox = await startSandbox({ rateLimit: 'off' });
/** All of them, or those named as arguments. */
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(CLIENTS);
const jobs = chosen.flatMap((name) => all.map(([scenario, document]) => ({ name, scenario, document })));
const rows = new Map();
const wrong = [];
let runs = 0;

async function work() {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    const { name, scenario, document } = job;
    const world = sandbox.world({ name: `${name}, ${scenario}` });
    await world.use(document);
    const { code } = await run(name, world);
    await world.referee({ intent: 'beneficiary_account' });
    const evidence = { requests: await world.requests(), payouts: await world.transactions(), code };
    const judged = await refereeOf(world);
    const must = mustFind(evidence);
    const { isRight, said } = verdictOf(judged, must);
    if (!isRight)
      wrong.push(
        `${name}, ${scenario}: the referee says ${said}, expected ${must?.[1].join(' or ') ?? 'nothing'}`,
      );
    rows.set(`${name} ${scenario}`, behaviour(evidence));
    runs += 1;
  }
}

/** The report at the end: the client sends no more. */
async function refereeOf({ url, apiKey }) {
  const response = await fetch(`${url}/_sandbox/referee?ended=true`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  return response.json();
}

await Promise.all([work(), work()]);
const columns = all.map(([scenario]) => scenario);
/** Prints a table of the page: what each client does in some of the scenarios. */
function printTable(scenarios) {
  const row = (cells) => print(`| ${cells.join(' | ')} |`);
  const heads = ['library', 'version', 'configuration', ...scenarios];
  row(heads);
  row(heads.map(() => '---'));
  for (const name of chosen) {
    const { of, with: configuration } = CLIENTS[name];
    const version = dependencies[of.split(' ')[0]] ?? process.versions.node;
    row([of, version, configuration, ...scenarios.map((scenario) => rows.get(`${name} ${scenario}`))]);
  }
}
printTable(columns.slice(0, 4));
print('');
printTable(columns.slice(4));
print(`\n${runs} runs, ${wrong.length} wrong verdicts`);
for (const line of wrong) print(line);
await sandbox.close();
process.exitCode = wrong.length > 0 ? 1 : 0;
