// How many requests a second the sandbox answers, against a bare node:http server of the same API:
// `node bench/throughput.mjs [rounds] [seconds]`. All programs run at once and are loaded in turns, so that a slow moment of the machine meets all.
// BENCH_BEFORE=other/dist/main.cjs measures another build of the sandbox beside this one; BENCH_LOAD=wrk loads with wrk instead of autocannon.
import { machine, median } from './figures.mjs';
import { CONNECTIONS, KINDS, load, start } from './load.mjs';

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 3);
const WARM_UP_SECONDS = 3; // before that, a run measures the interpreter
/** For the table by connections: as one client, and as a few. */
const MORE_CONNECTIONS = [1, 4];

/** The ratios of the targets are to the bare server. */
const SANDBOX = [process.execPath, process.env.BENCH_MAIN ?? 'dist/main.cjs'];
const AS_DEFAULT = { SANDBOX_OPENING_BALANCE: '90000000000', SANDBOX_RATE_LIMIT: '100000000/1s' }; // counted, never met
const PROGRAMS = {
  'bare node:http': { command: [process.execPath, 'bench/bare-server.mjs'] },
  'Fastify alone': { command: [process.execPath, 'bench/floor-server.mjs'] },
  sandbox: { command: SANDBOX, environment: AS_DEFAULT },
  'sandbox, logs off': { command: SANDBOX, environment: { ...AS_DEFAULT, SANDBOX_LOG_LEVEL: 'silent' } },
  ...(process.env.BENCH_BEFORE && {
    before: { command: [process.execPath, process.env.BENCH_BEFORE], environment: AS_DEFAULT },
  }),
};
const TARGETS = {
  sandbox: { initiate: 0.65, status: 0.75, balance: 0.8 },
};

const say = (line) => void process.stdout.write(`${line}\n`);
const column = (value, digits = 0) => (value === null ? '-' : value.toFixed(digits)).padStart(9);

const names = Object.keys(PROGRAMS);
const running = {};

/** Loads all programs in turns, in another order every other round, and prints a line for each. */
async function measure(kind, connections) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const results = {};
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      results[name] = await load(running[name], kind, SECONDS, connections);
    }
    rounds.push(results);
  }
  for (const name of names) {
    const of = (what) =>
      rounds[0][name][what] === null ? null : median(rounds.map((results) => results[name][what]));
    const ratio = median(rounds.map((results) => results[name].perSecond / results[names[0]].perSecond));
    const target = (connections === CONNECTIONS && TARGETS[name]?.[kind]) || null;
    say(
      `${kind.padEnd(10)}${`${connections} connections`.padEnd(15)}${name.padEnd(18)}${column(of('perSecond'))}${column(ratio, 2)}` +
        `${column(target, 2)}${column(of('p50Us'))}${column(of('p99Us'))}${column(of('serverUs'), 1)}${column(of('loadUs'), 1)}`,
    );
    const wrong = Math.max(...rounds.map((results) => results[name].wrong));
    if (wrong > 0) {
      say(`  up to ${wrong} answers of a round were not 200`);
      process.exitCode = 1;
    }
  }
}

for (const name of names) running[name] = await start(PROGRAMS[name]);
try {
  for (const name of names) for (const kind of KINDS) await load(running[name], kind, WARM_UP_SECONDS);
  say(machine());
  say(`medians of ${ROUNDS} rounds of ${SECONDS} s; the ratio is the median of each round's own`);
  say(
    `${' '.repeat(42)}requests/s    ratio   target   p50 µs   p99 µs  CPU µs of server and of load, a request`,
  );
  for (const kind of KINDS) await measure(kind, CONNECTIONS);
  for (const connections of MORE_CONNECTIONS) await measure('initiate', connections);
} finally {
  for (const name of names) await running[name]?.stop();
}
