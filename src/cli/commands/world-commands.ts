import type { Command } from 'commander';
import { complain } from '../output.ts';
import type { Session, SessionFlags } from '../world/world-session.ts';
import { noSuchCommand, type CommandBuilder, type Flags } from './command-builder.ts';

// Each command loads only what it needs.
const payouts = () => import('../world/payout-table.ts');
const requests = () => import('../world/request-lines.ts');
const rules = () => import('../world/rules-on-top.ts');
const snapshots = () => import('../world/snapshot-files.ts');
const world = () => import('../world/world-status.ts');
const changes = () => import('../world/world-changes.ts');

type Ask = (session: Session, words: readonly string[], flags: Flags) => Promise<number | void>;

/** Makes a command send requests to a running sandbox. */
function asks({ environment, ended }: CommandBuilder, command: Command, ask: Ask): void {
  command
    .option('--url <url>', 'the address of the sandbox [SANDBOX_URL; default HOST and PORT on this machine]')
    .option('--key <key>', 'the key whose world it is [SANDBOX_KEY; default sk_test_demo]')
    .option('--json', 'print the answer as JSON')
    .action(async () => {
      const { askSandbox, sessionOf } = await import('../world/world-session.ts');
      const flags = command.opts<SessionFlags & Flags>();
      const session = sessionOf(flags, environment);
      ended(await askSandbox(session, () => ask(session, command.args, flags)));
    });
}

/** A command that only groups subcommands. Its action lists them. */
function parentOf(builder: CommandBuilder, name: string, description: string): Command {
  const command = builder.command(`${name} [command]`, description).usage('<command>').helpCommand(false);
  return command.allowExcessArguments(true).action(() => {
    builder.ended(complain(noSuchCommand(command, command.args[0])));
  });
}

/** A subcommand. */
const within = (parent: Command, usage: string, description: string): Command =>
  parent.command(usage).description(description).allowExcessArguments(false);

const LIMIT = ['--limit <count>', 'the most to show, up to 1000', '20'] as const;

/** The commands that look at a world of a running sandbox, and pay in it. */
function addLooks(builder: CommandBuilder): void {
  const status = builder.command(
    'status',
    'show the clock, the balance, the payouts and the scenario of a world',
  );
  asks(builder, status, async (session) => (await world()).showStatus(session));
  const tail = builder.command(
    'tail',
    'follow the requests, settlements and findings of a world until Ctrl-C',
  );
  asks(builder, tail, async (session) => (await import('../world/tail.ts')).tailUntilSignal(session));
  const pay = builder
    .command('pay [amount]', 'initiate a payout, as a client would [default 1000 by IMPS to an account]')
    .option('--reference <text>', 'its client_ref_id [default payout-1, payout-2 and so on]')
    .option('--mode <mode>', 'IMPS, NEFT, RTGS or UPI')
    .option('--account <number>', 'the account; a magic one forces an answer')
    .option('--ifsc <code>', 'the IFSC of that account')
    .option('--name <name>', 'the name of the beneficiary')
    .option('--remarks <text>', 'the remarks');
  asks(builder, pay, async (session, [amount], flags) => (await payouts()).pay(session, amount, flags));
  const list = builder
    .command('payouts', 'list the payouts of a world with their states and next steps')
    .option('--status <state>', 'only those in this state: PENDING, SUCCESS, FAILED or REVERSED')
    .option('--reference <text>', 'only those with this client_ref_id')
    .option(...LIMIT);
  asks(builder, list, async (session, _words, { status: state, reference, limit }) =>
    (await payouts()).showPayouts(session, { status: state, client_ref_id: reference, limit } as object),
  );
  const journal = builder
    .command('journal', 'list the requests of a world, what each got and why')
    .option('--route <route>', 'only initiate, status or balance')
    .option('--status <number>', 'only those answered with this HTTP status')
    .option('--reference <text>', 'only those with this client_ref_id')
    .option('--txn <id>', 'only those with this txn_id')
    .option('--since <id or time>', 'only those after this number, or since this world time')
    .option(...LIMIT);
  asks(builder, journal, async (session, _words, flags) => {
    const { route, status: answered, reference, txn, since, limit } = flags;
    const query = { route, status: answered, client_ref_id: reference, txn_id: txn, since, limit };
    return (await requests()).showJournal(session, query as object);
  });
}

/** The commands that change a world of a running sandbox. */
function addChanges(builder: CommandBuilder): void {
  const fund = builder.command('fund <amount>', 'put money into the wallet, in INR');
  asks(builder, fund, async (session, [amount]) => (await changes()).fund(session, amount!));
  const advance = builder
    .command(
      'advance [time]',
      'move the clock by a duration such as 2h, or to a time; steps that come due are applied',
    )
    .option('--until-idle', 'until nothing is scheduled');
  asks(builder, advance, async (session, [time], flags) =>
    (await changes()).advance(session, time, flags['untilIdle'] === true),
  );
  for (const [move, description] of [
    ['freeze', 'stop the clock'],
    ['resume', 'let the clock run again'],
  ] as const) {
    const command = builder.command(move, description);
    if (move === 'resume') command.alias('unfreeze');
    asks(builder, command, async (session) => (await changes()).setClock(session, move));
  }
  const use = builder.command(
    'use [scenario]',
    'choose a scenario, by name or file [default the active scenario of the server]',
  );
  asks(builder, use, async (session, [choice]) => (await changes()).chooseScenario(session, choice));
  const reset = builder.command('reset', 'start a world again: wallet, payouts, clock, journal');
  asks(builder, reset, async (session) => (await world()).resetWorld(session));
}

function addRuleCommands(builder: CommandBuilder): void {
  const rule = parentOf(builder, 'rule', 'list, add and remove the rules on top of a world');
  const list = within(
    rule,
    'list',
    'list the rules in the order in which they are tried, with how often each was applied',
  ).option('--from <origin>', 'only those on top of the world, of its scenario, or magic');
  asks(builder, list, async (session, _words, { from }) =>
    (await rules()).listRules(session, from as string | undefined),
  );
  const add = within(
    rule,
    'add <file>',
    'put the rules of a YAML or JSON file on top; - reads standard input',
  );
  asks(builder, add, async (session, [file]) => (await rules()).addRules(session, file!));
  const remove = within(rule, 'remove [name]', 'remove one rule on top').option(
    '--all',
    'remove all of them',
  );
  asks(builder, remove, async (session, [name], { all }) =>
    (await rules()).removeRules(session, name, all === true),
  );
  const from = within(
    rule,
    'from <request>',
    'print a rule that repeats what a request of the journal got, for rule add and for scenarios',
  );
  asks(builder, from, async (session, [request]) => (await rules()).printRule(session, request!));
}

function addSnapshotCommands(builder: CommandBuilder): void {
  const snapshot = parentOf(builder, 'snapshot', 'save a world to a file, and load it again');
  const save = within(snapshot, 'save <file>', 'write the state of a world to a file');
  asks(builder, save, async (session, [file]) => (await snapshots()).saveSnapshot(session, file!));
  const load = within(snapshot, 'load <file>', 'replace a world with the state of a file');
  asks(builder, load, async (session, [file]) => (await snapshots()).loadSnapshot(session, file!));
}

/** The commands that use the control API of a running sandbox. */
export function addWorldCommands(builder: CommandBuilder): void {
  builder.group('A running sandbox:');
  addLooks(builder);
  addChanges(builder);
  addRuleCommands(builder);
  addSnapshotCommands(builder);
}
