import type { Logger } from 'pino';
import type { Scenario } from '../scenario/scenario.ts';
import type { Server } from '../server.ts';
import type { Settings } from '../settings.ts';
import type { Restored } from '../platform/state/kept-state.ts';

/** A key that works, for people to copy. Keys that were set are secrets, and never shown. */
const exampleKey = (apiKeys: Settings['apiKeys']): string =>
  apiKeys === undefined ? 'sk_test_demo' : '$SANDBOX_KEY';

const READY = 'payout sandbox ready';

const payoutBody = JSON.stringify({
  client_ref_id: 'order-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
});

/** How payouts settle: by the preset of the scenario, of the settings, or by timelines of the scenario's own. */
const settlementOf = ({ settlement }: Scenario): string =>
  typeof settlement === 'string' ? settlement : 'timelines';

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** How long ago, in the largest unit of which it is one at least. */
function ago(ms: number): string {
  const units = { d: 86_400_000, h: 3_600_000, min: 60_000 } as const;
  for (const [unit, unitMs] of Object.entries(units)) {
    if (ms >= unitMs) return `${Math.floor(ms / unitMs)} ${unit} ago`;
  }
  return `${Math.floor(ms / 1000)} s ago`;
}

const restoredText = ({ worlds, payouts, ageMs }: Restored): string =>
  `${counted(worlds, 'world')} with ${counted(payouts, 'payout')}, written ${ago(ageMs)}`;

/**
 * Tells where the sandbox is and how to try it: for eyes on a terminal, as one line of JSON elsewhere. A port that was
 * picked is told whatever the log level, since nobody could find it otherwise.
 */
export function welcome(
  { url, scenario, adminToken, restored }: Server,
  settings: Settings,
  log: Logger,
  isTerminal: boolean,
): void {
  const key = exampleKey(settings.apiKeys);
  // one that was set is a secret; one that was made is told once, here, since nobody could know it otherwise
  const madeToken = settings.adminToken === undefined ? adminToken : undefined;
  const note =
    settings.apiKeys === undefined ? 'any key that begins with sk_test_' : 'one of SANDBOX_API_KEYS';
  const authorization = `-H "Authorization: Bearer ${key}"`;
  if (!isTerminal) {
    // in single quotes and none, since double ones are escaped in JSON; the shell puts a secret key in
    const bearer =
      settings.apiKeys === undefined ? `'Authorization: Bearer ${key}'` : `'Authorization: Bearer '${key}`;
    const curl = `curl -H ${bearer} ${url}/client/fetchbalance`;
    const facts = {
      url,
      key,
      scenario: scenario.name,
      settlement: settlementOf(scenario),
      ...(restored === null
        ? {}
        : {
            restored: restored.worlds,
            restored_payouts: restored.payouts,
            restored_from: settings.state,
            restored_age_s: Math.round(restored.ageMs / 1000),
          }),
      admin_token: madeToken,
      try: curl,
      page: `${url}/_sandbox/`,
    };
    if (log.isLevelEnabled('info')) log.info(facts, READY);
    else if (settings.port === 0) process.stdout.write(`${JSON.stringify({ ...facts, msg: READY })}\n`);
    return;
  }
  process.stdout.write(
    `
  Payout sandbox ready on ${url}
  Key: ${key} (${note}; each is a world of its own)
  Scenario: ${scenario.name} (settlement ${settlementOf(scenario)}${settings.magic === 'off' ? ', no magic beneficiaries' : ''})
${restored === null ? '' : `  Restored: ${restoredText(restored)}, from ${settings.state}\n`}
  Pay:    curl ${url}/payout/initiate ${authorization} -H 'Content-Type: application/json' -d '${payoutBody}'
  Watch:  curl "${url}/payout/status?client_ref_id=order-1" ${authorization}
  Wallet: curl ${url}/client/fetchbalance ${authorization}
  Steer:  curl ${url}/_sandbox/world ${authorization}
  Look:   ${url}/_sandbox/
${madeToken === undefined ? '' : `  Admin:  ${madeToken} (for /_sandbox/worlds; SANDBOX_ADMIN_TOKEN sets another)\n`}
`,
  );
}
