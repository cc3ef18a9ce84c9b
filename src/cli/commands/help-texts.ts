const EXIT_CODES = `
Exit codes:
  0  done, or stopped by a signal
  1  done, with a negative result: a payout or a change is refused, a scenario has errors, a client misbehaved
  2  not done: a flag, setting, file, key or address cannot be used, or no sandbox responds`;

export const SERVE_EXAMPLES = `
Examples:
  $ payout-sandbox                                    every key that begins with sk_test_ is a world of its own
  $ payout-sandbox --port 0 --settlement instant      a free port, payouts that settle at the next request
  $ payout-sandbox --scenario timeout-after-commit    one of the built-in scenarios
  $ payout-sandbox my.yaml                            a scenario of your own
${EXIT_CODES}`;

/** The commands that `--help` shows: what a new user needs. `--help --all` has the others, too. */
export const FIRST_COMMANDS: ReadonlySet<string> = new Set([
  'serve',
  'init',
  'scenarios',
  'validate',
  'status',
  'pay',
  'payouts',
  'advance',
  'clock',
  'use',
  'rule',
  'explain',
  'journal',
  'tail',
  'reset',
  'undo',
  'referee',
  'hunt',
  'mcp',
]);

export const ROOT_TEXT = `
--help --all lists every command, and COMMAND --help its flags.

Examples:
  $ payout-sandbox                                    serve; serve --help lists the settings
  $ payout-sandbox tail                               follow what your client sends and what happens to it
  $ payout-sandbox pay 1500.50 --mode NEFT            pay by hand, in the world of sk_test_demo or of --key
  $ payout-sandbox advance 2h                         apply everything that is due by then
  $ payout-sandbox use timeout-after-commit           change how this world behaves; undo takes it back
  $ payout-sandbox referee --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- npm test    judge a client
${EXIT_CODES}`;
