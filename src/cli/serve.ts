import { once } from 'node:events';
import type { Logger } from 'pino';
import { jsonText } from '../actions/text-output.ts';
import { timeText } from '../contract/times.ts';
import { counted, listed } from '../contract/words.ts';
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

/** A working key for people to copy; keys from the settings are secrets and never shown. */
const keyFor = ({ apiKeys }: Settings): string => (apiKeys === undefined ? 'sk_test_demo' : '$SANDBOX_KEY');

const settlementOf = ({ settlement }: Server['scenario']): string =>
  typeof settlement === 'string' ? settlement : 'timelines';

const readyText = ({ wasStoreReached }: Server): string =>
  wasStoreReached() ? 'ready' : 'not ready yet (its store was not reached)';

/** One address and what to do next, and what is not as usual. @param isVerbose whether also the key, the scenario, an example and the admin token */
function welcomeText(server: Server, settings: Settings, isVerbose: boolean): string {
  const { url, scenario, adminToken, restored, certificate } = server;
  const { apiKeys, dialect, state, store, host, magic } = settings;
  const key = keyFor(settings);
  const note = apiKeys === undefined ? 'any key that begins with sk_test_' : 'one of SANDBOX_API_KEYS';
  const choices = `${settlementOf(scenario)}${dialect === undefined ? '' : `, dialect ${dialect}`}${magic === 'off' ? ', no magic beneficiaries' : ''}`;
  const restoredText =
    restored !== null &&
    `${counted(restored.worlds, 'world')} with ${counted(restored.payouts, 'payout')}, written ${timeText(restored.ageMs)} ago, from ${state}`;
  const lines: readonly (readonly [string, string | false])[] = [
    [
      'Next',
      `open that address in a browser, or give it to your client with ${apiKeys === undefined ? `the key ${key}` : note}`,
    ],
    ['Key', isVerbose && `${key} (${note}; each is a world of its own)`],
    ['Scenario', isVerbose && `${scenario.name} (settlement ${choices})`],
    ['Restored', restoredText],
    ['Store', store !== undefined && withoutPassword(store)],
    ['Network', !isLoopbackName(host) && `it listens on ${host}, so other machines can reach it`],
    ['Certificate', certificate !== undefined && `${certificate}, which clients must trust`],
    [
      'Pay',
      isVerbose &&
        `curl ${url}/payout/initiate -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '${payoutBody}'`,
    ],
    // a terminal is no log: a generated token is shown there, since nobody could know it otherwise
    [
      'Admin',
      isVerbose &&
        settings.adminToken === undefined &&
        `${adminToken} (for the calls about all worlds; SANDBOX_ADMIN_TOKEN sets another)`,
    ],
  ];
  const shown = lines.flatMap(([name, text]) => (text === false ? [] : [`  ${name}: ${text}`]));
  return ['', `  Payout sandbox ${readyText(server)} on ${url}`, ...shown, ''].join('\n');
}

/**
 * Prints where the sandbox is and what to do next: as text on a terminal, as one line of JSON elsewhere. A port that was picked is printed
 * at every log level, since nobody could find it otherwise.
 *
 * @param isVerbose whether to show on a terminal also the key, the scenario, an example and the admin token
 */
export function welcome(
  server: Server,
  settings: Settings,
  log: Logger,
  isTerminal: boolean,
  isVerbose = false,
): void {
  if (isTerminal) return say(welcomeText(server, settings, isVerbose));
  const { url, scenario, restored, certificate } = server;
  const { dialect, state, store, host, port } = settings;
  const facts = {
    url,
    key: keyFor(settings),
    scenario: scenario.name,
    settlement: settlementOf(scenario),
    ...(dialect !== undefined && { dialect }),
    ...(restored !== null && {
      restored: restored.worlds,
      restored_payouts: restored.payouts,
      restored_from: state,
      restored_age_s: Math.round(restored.ageMs / 1000),
    }),
    ...(store !== undefined && { store: withoutPassword(store) }),
    ...(certificate !== undefined && { certificate }),
    ...(!isLoopbackName(host) && { listens_on: host, reachable_from: 'other machines' }),
    dashboard: `${url}/_sandbox/`,
  };
  const msg = `payout sandbox ${readyText(server)}`;
  if (log.isLevelEnabled('info')) log.info(facts, msg);
  else if (port === 0) say(jsonText({ ...facts, msg }, 0));
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
export async function serve(
  settings: Settings,
  environment: NodeJS.ProcessEnv,
  isVerbose = false,
): Promise<number> {
  if (settings.stateEvery !== 'off' && settings.state === undefined) {
    return complain('--state-every (SANDBOX_STATE_EVERY) does nothing without --state (SANDBOX_STATE)');
  }
  const foreign = ['HOST', 'LOG_LEVEL'].filter((name) => environment[name]);
  if (foreign.length > 0) {
    const own = foreign.map((name) => `SANDBOX_${name}`);
    complain(
      `warning: the sandbox does not read ${listed(foreign)}, which other programs use: set ${listed(own)}`,
    );
  }
  const isTerminal = process.stdout.isTTY;
  return untilStopped(async (signal) => {
    const stop = Promise.race([once(signal, 'abort'), shellGone(environment)]);
    const { log, end } = await standardLog(settings, isTerminal);
    try {
      const server = await Promise.race([startOwnServer(settings, log), stop.then(() => null)]);
      if (server === null) process.exit(EXIT_OK); // what it restores may take long, and is only read
      welcome(server, settings, log, isTerminal, isVerbose);
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
