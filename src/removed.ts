/**
 * What earlier editions had, by the name that a user types: a command (`name`), a flag (`--name`, or `command --name` where
 * other commands still have it) or a setting (`SANDBOX_NAME`). Each is refused with this sentence, which says what to do instead.
 */
const REMOVED: Readonly<Record<string, string>> = {
  examine:
    'judge the client while it runs: payout-sandbox referee -- COMMAND, or verdict on the world that it used',
  completion: 'payout-sandbox --help --all lists the commands, and COMMAND --help its flags',
  freeze: 'use clock freeze',
  resume: 'use clock resume',
  unfreeze: 'use clock resume',
  request: 'use journal NUMBER',
  withdraw: 'use fund AMOUNT --withdraw',
  name: 'the library and the header X-Sandbox-World-Name name a world',
  drop: 'use reset, or DELETE /_sandbox/worlds/ID with the admin token',
  'scenario show': 'use scenario',
  'scenario list': 'use scenario --list',
  'scenario reference': 'see docs/scenarios.md',
  'rule list': 'use scenario, which shows all rules in their order',
  'rule from':
    'write the rule by hand: journal shows what the request got, and docs/scenarios.md has the fields',
  'validate --explain': 'use explain, which does the same in a world of a running sandbox',
  'pay --patience': 'commands wait 8 seconds for a response',
  '--time-zone': 'people read times in IST; with --json they are in UTC',
  probe:
    'write the dialect by hand: docs/fidelity.md says for each point how to find out what a service does',
  '--junit-checks': '--verbose has each check, also in a JUnit report',
  '--runner': 'init writes its test for vitest where package.json has it, else for node:test',
  '--allow-commands': 'a coding agent hunts with payout-sandbox hunt in its terminal',
  '--known': 'choose what a hunt looks for with --goal',
  'hunt --report': 'hunt --json prints the result as JSON',
  rewind:
    'undo takes back the last actions, and snapshot load returns to a world that snapshot save has saved',
  tail: 'the log of payout-sandbox shows the requests, the dashboard what happens live; world.events() follows it in a program',
  '--header': 'curl sends a request with other headers, and POST /_sandbox/rules/explain takes them',
  '--settings': 'give --intent, --expect, --patience and --off in a script of package.json',
  schema: 'the package has the JSON Schema of a scenario file: fixtures/scenario.schema.json',
  openapi: 'every sandbox serves the document at /_sandbox/openapi.json',
  '--before': 'save the snapshot when the world is as you want it, and load it with snapshot load',
  '--journal-memory': 'journals are bounded by counts: use --journal-entries and --journal-total',
  SANDBOX_JOURNAL_MEMORY:
    'journals are bounded by counts: use SANDBOX_JOURNAL_ENTRIES and SANDBOX_JOURNAL_TOTAL',
  '--scenario-memory': 'scenarios and rules are bounded by a count: use --max-rules',
  SANDBOX_SCENARIO_MEMORY: 'scenarios and rules are bounded by a count: use SANDBOX_MAX_RULES',
  '--require-exercised':
    'the last line of matrix counts what was not exercised, and its JSON and JUnit reports name it',
};

/** The refusal of the first of these names that earlier editions had, or undefined if none of them had any. */
export function removedText(...names: readonly string[]): string | undefined {
  const name = names.find((one) => Object.hasOwn(REMOVED, one));
  return name === undefined ? undefined : `${name} was removed: ${REMOVED[name]}`;
}
