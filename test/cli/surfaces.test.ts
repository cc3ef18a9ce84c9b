import { writeFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Command } from 'commander';
import { expect, onTestFinished, test } from 'vitest';
import { agentActor, mcpServer } from '../../src/cli/mcp-server.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { connectSandbox } from '../../src/index.ts';
import { hasCurl } from '../support/paying-command.ts';
import { runInProcess } from '../support/program.ts';
import { PAYOUT, sandboxFor } from '../support/sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What can be done, and with which arguments: `rule_add: rules, json, key`. */
type Surface = ReadonlyMap<string, ReadonlySet<string>>;

/** Arguments that say which sandbox is meant, which an agent cannot choose. */
const OF_A_TERMINAL: ReadonlySet<string> = new Set(['url', 'admin_token']);

function commandSurface(command: Command, path = ''): readonly (readonly [string, ReadonlySet<string>])[] {
  return command.commands
    .filter((sub) => path !== '' || sub.helpGroup() === 'A running sandbox:')
    .flatMap((sub) => {
      const name = `${path} ${sub.name()}`.trim().replace(' ', '_');
      if (sub.commands.length > 0) return commandSurface(sub, sub.name());
      const flags = sub.options.map(({ long }) => long!.slice(2).replaceAll('-', '_'));
      const words = sub.registeredArguments.map((argument) => argument.name());
      return [[name, new Set([...flags.filter((flag) => !OF_A_TERMINAL.has(flag)), ...words])] as const];
    });
}

async function toolSurface(): Promise<Surface> {
  const [here, there] = InMemoryTransport.createLinkedPair();
  const actor = agentActor(connectSandbox({ url: 'http://127.0.0.1:9' }), 'sk_test_a');
  const agent = new Client({ name: 'agent', version: '1.0.0' });
  await Promise.all([mcpServer(actor).connect(there), agent.connect(here)]);
  onTestFinished(() => agent.close());
  const { tools } = await agent.listTools();
  return new Map(
    tools.map(({ name, inputSchema }) => [name, new Set(Object.keys(inputSchema.properties ?? {}))]),
  );
}

test('neither the command line nor an agent can do less than the other', async () => {
  const commands: Surface = new Map(commandSurface(buildProgram({})));
  const tools = await toolSurface();
  expect([...commands.keys(), 'validate', 'scenario_reference'].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    [...tools.keys()].toSorted((a, b) => (a < b ? -1 : 1)),
  );
  expect(commands.size).toBe(24);
  for (const [name, given] of commands) {
    // the rules themselves, where a terminal has a file
    const arguments_ = [...tools.get(name)!].map((argument) => (argument === 'rules' ? 'file' : argument));
    expect({ name, given: [...given].toSorted() }).toEqual({ name, given: arguments_.toSorted() });
  }
});

const ADMIN = 'admin-of-the-terminal';

/** Clears a terminal, in two ways; reverses what follows; begins a line that GitHub would obey. */
const HOSTILE = 'a\u001b[2J\u009b2J\u202eb\n  ::error::c##[error]d';
/** Everything that moves a cursor, reorders text, or is a command for GitHub. */
const CONTROLS = /(?![\n\t])\p{C}|^[ \t]*::|##\[/mu;

test('no output contains what controls a terminal, whatever a client, a file or a server put into it', async () => {
  const { url } = await sandboxFor({ clock: '2026-01-15T10:30:00Z', adminToken: ADMIN });
  const world = connectSandbox({ url }).world('sk_test_hostile');
  const files = temporaryFolder();
  const scenario = `${files}/scenario.yaml`;
  const respond = { status: 500, message: HOSTILE };
  const rules = [{ name: 'odd', description: HOSTILE, match: { amount: 13 }, effect: { respond } }];
  await world.use({ description: HOSTILE, rules });
  await world.pay({ client_ref_id: HOSTILE, remarks: HOSTILE });
  writeFileSync(scenario, JSON.stringify({ [HOSTILE]: 1, rules: [{ [HOSTILE]: 2 }] }));
  const commands = [
    ...['status', 'payouts', 'journal', 'entries', 'held', 'verdict', 'worlds'].map((name) => [name]),
    ['scenario'],
    ['scenario', '--list'],
    ['journal', '1'],
    ['pay', '13', '--reference', HOSTILE],
    ['explain', '--reference', HOSTILE],
    ['read', HOSTILE],
    ['force', HOSTILE, 'FAILED'],
    ['use', HOSTILE],
    ['use', scenario],
    ['rule', 'add', scenario],
    ['rule', 'remove', HOSTILE],
    ['advance', HOSTILE],
    ['snapshot', 'load', `${files}/${HOSTILE}`],
    ['advance', '1h'],
    ['undo'],
  ];
  const environment = { SANDBOX_URL: url, SANDBOX_KEY: 'sk_test_hostile', SANDBOX_ADMIN_TOKEN: ADMIN };
  let isShown = false;
  for (const args of [
    ...commands,
    ...commands.map((words) => words.concat('--json')),
    ['validate', scenario],
  ]) {
    const { stdout, stderr } = await runInProcess(args, environment);
    expect({ args, found: CONTROLS.exec(stdout + stderr)?.[0] }).toEqual({ args, found: undefined });
    isShown ||= stdout.includes('a\ufffd[2J\ufffd2J\ufffdb\ufffd  ::error::c\ufffd#[error]d');
  }
  expect(isShown).toBe(true);
  const { stdout } = await runInProcess(['payouts', '--json'], environment);
  expect(JSON.parse(stdout)).toMatchObject({ transactions: [{ client_ref_id: HOSTILE }] });
});

/** Pays with hostile words, twice in different amounts, and fails with them if a status that nobody knows gets a 400. */
const HOSTILE_CLIENT = `
ask() { path="$1"; shift; curl -s -o /dev/null -w '%{http_code}' "$URL/$path" -H "Authorization: Bearer $KEY" "$@"; }
for body; do ask payout/initiate -H 'Content-Type: application/json' -d "$body"; done
[ "$(ask 'payout/status?client_ref_id=none')" != 400 ] || { echo "$0" >&2; exit 1; }
`;
const hostileBody = (amount: number): string =>
  JSON.stringify({ ...PAYOUT, client_ref_id: HOSTILE, beneficiary_name: HOSTILE, amount });

test.skipIf(!hasCurl)('no command that runs a client prints what controls a terminal', async () => {
  const folder = temporaryFolder();
  const scenario = `${folder}/scenario.yaml`;
  writeFileSync(scenario, JSON.stringify({ [HOSTILE]: 1 }));
  const client = ['--env', 'URL={url}', '--env', 'KEY={key}', '--', 'sh', '-c', HOSTILE_CLIENT, HOSTILE];
  client.push(hostileBody(1), hostileBody(2));
  const off = ['--off', `no-timeout=${HOSTILE}`];
  const commands = [
    ['referee', ...off, ...client],
    ['referee', '--json', ...client],
    ['hunt', '--depth', '1', '--runs', '3', '--patience', '1s', ...client],
    ['hunt', '--depth', '1', '--runs', '3', '--patience', '1s', '--json', ...client],
    ['matrix', '--dialects', 'terse', '--scenarios', 'none', ...client],
    ['matrix', '--dialects', 'terse', '--scenarios', 'none', '--json', ...client],
    ['health', '--url', `http://127.0.0.1:9/${HOSTILE}`],
    ['validate', '--json', scenario],
  ];
  for (const args of commands) {
    const { stdout, stderr } = await runInProcess(args);
    const [command] = args;
    expect({ command, found: CONTROLS.exec(stdout + stderr)?.[0] }).toEqual({ command, found: undefined });
    expect({ command, text: stdout + stderr }).toEqual({ command, text: expect.stringContaining('[2J') });
    if (args.includes('--json')) expect(JSON.parse(stdout)).toBeInstanceOf(Object);
  }
});
