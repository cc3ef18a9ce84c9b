// What 200 rules that do not match cost a request: `npm run bench:rules`.
import { startSandbox } from '../dist/index.js';
import { median } from './figures.mjs';
import { payoutOf } from './payout.mjs';

const RULES = 200;
const ROUNDS = 15;
const REQUESTS = 400; // a round
const BOUND_US = 100;

/** A scenario may have 20 patterns. */
const matching = (nth, pattern) => (nth < 100 ? { matches: pattern } : { prefix: pattern });

const REMARKS = 'invoice 2026-01-15 of a customer in Pune';

/** Every kind of match, on fields that every request has, so that none is refused without a look. */
const KINDS = [
  (nth) => ({ client_ref_id: `nobody-${nth}` }),
  (nth) => ({ client_ref_id: [`nobody-${nth}`, `no-one-${nth}`] }),
  (nth) => ({ beneficiary_account: { prefix: `9${nth}` } }),
  (nth) => ({ beneficiary_account: { suffix: `${nth}x` } }),
  (nth) => ({ remarks: matching(nth, `^refund .*[0-9]-${nth}$`) }),
  (nth) => ({ beneficiary_name: matching(nth, `(Rao|Nair)-${nth}`) }),
  (nth) => ({ amount: { gte: 2000 + nth, lt: 3000 + nth } }),
  (nth) => ({ amount: 5000 + nth }),
  (nth) => ({ header: { 'x-test-case': `case-${nth}` } }),
  (nth) => ({ transfer_mode: 'IMPS', attempt: { gt: 10 + nth } }),
];

const rulesOf = (count) =>
  Array.from({ length: count }, (_, nth) => ({
    name: `rule-${nth}`,
    match: { route: 'initiate', ...KINDS[nth % KINDS.length](nth) },
    effect: { respond: { status: 500 } },
  }));

const sandboxWith = (rules) =>
  startSandbox({ rateLimit: 'off', settlement: 'manual', magic: 'off', scenario: { rules } });

let sent = 0;

/** One request after another. @returns µs a request */
async function round({ url }) {
  const startMs = performance.now();
  for (let nth = 0; nth < REQUESTS; nth += 1) {
    const response = await fetch(`${url}/payout/initiate`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk_test_bench', 'content-type': 'application/json' },
      body: JSON.stringify({ ...payoutOf(`order-${(sent += 1)}`, 0.01), remarks: REMARKS }),
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a rule matched: ${response.status}`);
  }
  return ((performance.now() - startMs) * 1000) / REQUESTS;
}

const without = await sandboxWith(rulesOf(0));
const withRules = await sandboxWith(rulesOf(RULES));
const times = { without: [], withRules: [] };
for (let nth = -2; nth < ROUNDS; nth += 1) {
  const [one, other] = [await round(without), await round(withRules)]; // in turn: the machine's moods hit both
  if (nth < 0) continue; // warming up
  times.without.push(one);
  times.withRules.push(other);
}
await Promise.all([without.close(), withRules.close()]);

const [base, ruled] = [median(times.without), median(times.withRules)];
const costUs = ruled - base;
process.stdout.write(
  `one initiate, median of ${ROUNDS} rounds of ${REQUESTS} requests\n` +
    `  without rules:              ${base.toFixed(1)} µs\n` +
    `  ${RULES} rules, none matches: ${ruled.toFixed(1)} µs, ${(ruled / base).toFixed(2)} times as long\n` +
    `  cost of the rules:          ${costUs.toFixed(1)} µs a request, ${((costUs * 1000) / RULES).toFixed(0)} ns a rule\n`,
);
if (costUs >= BOUND_US) {
  process.stdout.write(`  more than the ${BOUND_US} µs that they may cost\n`);
  process.exitCode = 1;
}
