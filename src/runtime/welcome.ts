import type { Logger } from 'pino';
import type { Settings } from '../settings.ts';

/** A key that works, for people to copy. Keys that were set are secrets, and never shown. */
const exampleKey = (apiKeys: Settings['apiKeys']): string =>
  apiKeys === undefined ? 'sk_test_demo' : '$SANDBOX_KEY';

const payoutBody = JSON.stringify({
  client_ref_id: 'order-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
});

/** Tells where the sandbox is and how to try it: for eyes on a terminal, as one line of JSON elsewhere. */
export function welcome(url: string, settings: Settings, log: Logger, isTerminal: boolean): void {
  const key = exampleKey(settings.apiKeys);
  const note =
    settings.apiKeys === undefined ? 'any key that begins with sk_test_' : 'one of SANDBOX_API_KEYS';
  const authorization = `-H "Authorization: Bearer ${key}"`;
  if (!isTerminal) {
    // in single quotes and none, since double ones are escaped in JSON; the shell puts a secret key in
    const bearer =
      settings.apiKeys === undefined ? `'Authorization: Bearer ${key}'` : `'Authorization: Bearer '${key}`;
    const curl = `curl -H ${bearer} ${url}/client/fetchbalance`;
    log.info({ url, key, settlement: settings.settlement, try: curl }, 'payout sandbox ready');
    return;
  }
  process.stdout.write(
    `
  Payout sandbox ready on ${url}
  Key: ${key} (${note}; each is a world of its own)

  Pay:    curl ${url}/payout/initiate ${authorization} -H 'Content-Type: application/json' -d '${payoutBody}'
  Watch:  curl "${url}/payout/status?client_ref_id=order-1" ${authorization}
  Wallet: curl ${url}/client/fetchbalance ${authorization}

`,
  );
}
