/** What --help prints below the flags. */

export const SERVE_EXAMPLES = `
Examples:
  $ payout-sandbox                                    every key that begins with sk_test_ is a world of its own
  $ payout-sandbox --port 0 --settlement instant      a free port, payouts that settle at the next request
  $ payout-sandbox --scenario timeout-after-commit    one of the built-in scenarios
  $ payout-sandbox --scenario ./my.yaml               a scenario of your own`;

export const EXIT_CODES = `
Exit codes: 0 stopped by a signal, or done; 1 a scenario file is not valid (validate), the sandbox is not ready
(health), a sandbox cannot be reached or refuses (status, tail, pay and the like), a client misbehaved (referee, examine,
hunt, matrix), or a service could not be probed (probe); 2 a flag, setting, scenario, file or address cannot be used.`;

export const EXAMPLES = `${SERVE_EXAMPLES}
  $ payout-sandbox my.yaml                            the same, shorter

In a second terminal, for the world of sk_test_demo or of --key:
  $ payout-sandbox tail                               follow what your client sends and what becomes of it
  $ payout-sandbox pay 1500.50 --mode NEFT            pay by hand
  $ payout-sandbox advance 2h                         apply everything that is due by then
  $ payout-sandbox use timeout-after-commit           change how this world behaves
  $ payout-sandbox rule from 1 | payout-sandbox rule add -    repeat what request #1 got

For a project:
  $ payout-sandbox init                               write a scenario, a compose file and a first test
  $ payout-sandbox scenarios                          list the scenarios to choose from
  $ payout-sandbox validate ./scenarios/*.yaml        check scenario files before a test run
  $ payout-sandbox validate my.yaml --explain pay.json    which rule would this request take, and why no other?
  $ payout-sandbox health --wait 30s && npm test      as soon as it is ready
  $ payout-sandbox referee --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- npm test    how does the client behave?
  $ payout-sandbox hunt --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- npm run pay-once    which failures make it pay twice?
  $ payout-sandbox matrix --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- npm test    does it survive other dialects and every failure?
  $ source <(payout-sandbox completion bash)          complete commands, flags and scenarios
${EXIT_CODES}`;
