import { spawnSync } from 'node:child_process';

/** A process that lasts until it is ended, and how many of it there are. Only this process starts it. */
export const LASTING = `sleep 4711.${process.pid}`;
export const lasting = (): string => spawnSync('pgrep', ['-fx', LASTING], { encoding: 'utf8' }).stdout;

export const hasCurl = spawnSync('curl', ['--version']).status === 0;

/**
 * A client of a shell and curl, which start in a tenth of the time of Node.js. It pays again under a new reference when the first
 * answer is not 200. With LOOP it then never ends, and it ends with the exit code in EXIT. Its timeout is longer than any pause
 * of a busy machine, so no test may let a request of it hang.
 */
const PAYS_AGAIN = `
pay() {
  curl -s -o /dev/null -w '%{http_code}' --max-time 30 "$PAYOUT_URL/payout/initiate" \\
    -H "Authorization: Bearer $PAYOUT_KEY" -H 'Content-Type: application/json' \\
    -d '{"client_ref_id":"'$1'","beneficiary_name":"Asha Rao","beneficiary_account":"000123456789","beneficiary_ifsc":"SBIN0000001","amount":250,"transfer_mode":"IMPS"}'
}
if [ "$(pay order-7)" != 200 ]; then
  while [ -n "$LOOP" ]; do sleep 1; done
  pay order-7-again >/dev/null
fi
exit "\${EXIT:-0}"
`;

/** The program and its arguments. */
export const PAYING_COMMAND = ['sh', '-c', PAYS_AGAIN] as const;

/** The flags that tell it where to pay. */
export const PAYING_TARGET = ['--env', 'PAYOUT_URL={url}', '--env', 'PAYOUT_KEY={key}'] as const;
