import { once } from 'node:events';
import type { Logger } from 'pino';
import { jsonText } from '../actions/text-output.ts';
import { timeText } from '../contract/times.ts';
import { counted } from '../contract/words.ts';
import { isLoopbackName } from '../http/request-checks.ts';
import { standardLog } from '../platform/logging.ts';
import type { Server } from '../server.ts';
import type { Settings } from '../settings.ts';
import { say, complain, EXIT_OK } from './output.ts';
import { startOwnServer } from './own-server.ts';
import { untilStopped } from './stop-signal.ts';

const payoutBody = JSON.stringify({
  client_ref_id: 'order-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
});

const withoutPassword = (address: string): string => address.replace(/\/\/.*@/, '//');

/**
 * Prints where the sandbox is and how to try it: as text on a terminal, as one line of JSON elsewhere. A port that was
 * picked is printed at every log level, since nobody could find it otherwise.
 */
export function welcome(
  { url, scenario, adminToken, restored, wasStoreReached }: Server,
  settings: Settings,
  log: Logger,
  isTerminal: boolean,
): void {
  const ready = wasStoreReached() ? 'ready' : 'not ready yet (its store was not reached)';
  const { apiKeys, dialect, state, store, host, port, magic } = settings;
  // a working key for people to copy; keys from the settings are secrets and never shown
  const key = apiKeys === undefined ? 'sk_test_demo' : '$SANDBOX_KEY';
  const settlement = typeof scenario.settlement === 'string' ? scenario.settlement : 'timelines';
  const isOpen = !isLoopbackName(host);
  if (!isTerminal) {
    const facts = {
      url,
      key,
      scenario: scenario.name,
      settlement,
      ...(dialect !== undefined && { dialect }),
      ...(restored !== null && {
        restored: restored.worlds,
        restored_payouts: restored.payouts,
        restored_from: state,
        restored_age_s: Math.round(restored.ageMs / 1000),
      }),
      ...(store !== undefined && { store: withoutPassword(store) }),
      ...(isOpen && { listens_on: host, reachable_from: 'other machines' }),
      dashboard: `${url}/_sandbox/`,
    };
    const msg = `payout sandbox ${ready}`;
    if (log.isLevelEnabled('info')) log.info(facts, msg);
    else if (port === 0) say(jsonText({ ...facts, msg }, 0));
    return;
  }
  // a terminal is no log: a generated token is shown there once, since nobody could know it otherwise
  const madeToken = settings.adminToken === undefined ? adminToken : undefined;
  const note = apiKeys === undefined ? 'any key that begins with sk_test_' : 'one of SANDBOX_API_KEYS';
  const restoredLine =
    restored === null
      ? ''
      : `  Restored: ${counted(restored.worlds, 'world')} with ${counted(restored.payouts, 'payout')}, written ${timeText(restored.ageMs)} ago, from ${state}\n`;
  say(
    `
  Payout sandbox ${ready} on ${url}
  Key: ${key} (${note}; each is a world of its own)
  Scenario: ${scenario.name} (settlement ${settlement}${dialect === undefined ? '' : `, dialect ${dialect}`}${magic === 'off' ? ', no magic beneficiaries' : ''})
${restoredLine}${store === undefined ? '' : `  Store: ${withoutPassword(store)}\n`}${isOpen ? `  Network: it listens on ${host}, so other machines can reach it\n` : ''}
  Pay:    curl ${url}/payout/initiate -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '${payoutBody}'
  Watch:  ${url}/_sandbox/
${madeToken === undefined ? '' : `  Admin:  ${madeToken} (for /_sandbox/worlds; SANDBOX_ADMIN_TOKEN sets another)\n`}`,
  );
}

const LOOK_MS = 250;

/** Resolves when the shell in which npm and npx run a program is gone: it does not pass on the signal that ends it. */
const shellGone = (environment: NodeJS.ProcessEnv): Promise<void> =>
  new Promise((resolve) => {
    if (environment['npm_command'] === undefined) return;
    const { ppid: parent } = process;
    setInterval(() => process.ppid !== parent && resolve(), LOOK_MS).unref();
  });

/** Runs the sandbox until a signal ends it, even as process 1 of a container. */
export async function serve(settings: Settings, environment: NodeJS.ProcessEnv): Promise<number> {
  if (settings.stateEvery !== 'off' && settings.state === undefined) {
    return complain('--state-every (SANDBOX_STATE_EVERY) does nothing without --state (SANDBOX_STATE)');
  }
  const isTerminal = process.stdout.isTTY;
  return untilStopped(async (signal) => {
    const stop = Promise.race([once(signal, 'abort'), shellGone(environment)]);
    const { log, end } = await standardLog(settings, isTerminal);
    try {
      const server = await Promise.race([startOwnServer(settings, log), stop.then(() => null)]);
      if (server === null) process.exit(EXIT_OK); // what it restores may take long, and is only read
      welcome(server, settings, log, isTerminal);
      log.flush(); // whoever started the program waits for that line
      await stop;
      await server.close();
      log.info('stopped');
    } finally {
      await end(); // also after an error: pino would write the rest at the exit, and never return while the disk is full
    }
    return EXIT_OK;
  });
}
