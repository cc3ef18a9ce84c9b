import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { pino } from 'pino';
import { z } from 'zod';
import { ACTIONS } from '../actions/actions.ts';
import { document } from '../actions/arguments.ts';
import {
  action,
  adviceOn,
  COMMON,
  errorLines,
  type Action,
  type Actor,
  type Session,
} from '../actions/sandbox-action.ts';
import type { World } from '../client/controlled-world.ts';
import { sandboxAt, type Sandbox } from '../client/sandbox.ts';
import { suggestion } from '../contract/suggestion.ts';
import { packageText, packageVersion } from '../package-files.ts';
import { logOptions } from '../platform/logging.ts';
import { plain } from '../referee/reports/summary.ts';
import { SettingsError, readSettings, type Settings } from '../settings.ts';
import { checkElsewhere } from './health.ts';
import { complain, EXIT_OK } from './output.ts';
import { startOwnServer, type SettingFlags } from './own-server.ts';
import { textReport } from './scenario-files.ts';
import { untilStopped } from './stop-signal.ts';

const MOST_SNAPSHOTS = 10;

/** A coding agent: its texts are in its arguments, and what it saves is kept until its connection ends. */
export function agentActor(sandbox: Sandbox, ownKey: string): Actor {
  const worlds = new Map<string, World>();
  const kept = new Map<string, string>();
  return {
    sandbox,
    world(key = ownKey) {
      // the same object for each call, since it numbers the payouts that it makes
      const world = worlds.get(key) ?? sandbox.world(key);
      worlds.set(key, world);
      return world;
    },
    keyText: (key = ownKey) => `the key ${key}`,
    texts: {
      read: (_calledBy, given) => ({
        name: 'the text',
        text: typeof given === 'string' ? given : JSON.stringify(given),
      }),
      async save(_calledBy, name, text) {
        if (kept.size >= MOST_SNAPSHOTS && !kept.has(name)) {
          const names = [...kept.keys()].join(', ');
          throw new SettingsError(`at most ${MOST_SNAPSHOTS} snapshots are kept: save over one of ${names}`);
        }
        kept.set(name, await text());
      },
      saved(_calledBy, name) {
        const snapshot = kept.get(name);
        if (snapshot !== undefined) return snapshot;
        const known = kept.size === 0 ? 'none was saved yet' : `there are ${[...kept.keys()].join(', ')}`;
        throw new SettingsError(`there is no snapshot ${name}: ${known}`);
      },
    },
    paint: plain,
  };
}

const advice = {
  noSandbox:
    '; ask the user to start one with payout-sandbox at that address, or to give this server another with --url',
  adminToken: '; ask the user to give it to this server with --admin-token or SANDBOX_ADMIN_TOKEN',
  key: '; the argument key names another key, and --key of this server the usual one',
};

/** An error as a tool returns it. */
const errorText = (error: unknown): string =>
  error instanceof Error ? errorLines(error).join('\n') + adviceOn(error, advice) : String(error);

const instructions = ({ sandbox, keyText }: Actor): string =>
  [
    'A stand-in for a payout service, to test payout clients: payouts in INR by IMPS, NEFT, RTGS and UPI, a wallet, a clock that you control, and every failure on demand. No money moves.',
    `Give the client under test the base address ${sandbox.url} and, as its bearer key, ${keyText()}. It calls POST /payout/initiate, GET /payout/status and GET /client/fetchbalance.`,
    'Each key has a world of its own: wallet, payouts, clock, scenario and journal. Use another key for an independent test.',
    'Payouts settle in the time of their world: use advance instead of waiting. A typical test: reset, clock with freeze, use or rule_add, run the client, then journal, payouts and verdict with the intent each time, so that findings from before the last reset are left out.',
    'In a terminal, payout-sandbox hunt searches for the fewest failures that make a command pay twice.',
    'Tools are the commands of payout-sandbox: rule_add is `payout-sandbox rule add`. All of a world take `key` and `json`: without a key they work on the world of the key above; they return text for people or, with json: true, everything; times are in IST, and in UTC in JSON.',
  ].join('\n');

const toolName = (name: string): string => name.replaceAll(' ', '_');

/** The arguments of an action, without the hints for --help and what `instructions` says: an agent reads everything before it begins. */
function inputSchema(input: z.ZodObject): Tool['inputSchema'] {
  const {
    type,
    properties = {},
    required,
  } = z.toJSONSchema(input, {
    io: 'input',
    target: 'draft-7',
    override({ jsonSchema: schema }) {
      delete schema.title;
      delete schema.minLength;
    },
  });
  const schemas = Object.entries(properties as Record<string, z.core.JSONSchema.JSONSchema>);
  const own = schemas.map(([name, { description, ...rest }]) => [
    name,
    name in COMMON.world ? { type: rest.type } : { description, ...rest },
  ]);
  return { type, properties: Object.fromEntries(own), required } as Tool['inputSchema'];
}

function listed({ name, summary, details, input, effect }: Action): Tool {
  const sentences = [summary, details].filter((text) => text !== '').join('. ');
  return {
    name: toolName(name),
    description: `${sentences.charAt(0).toUpperCase()}${sentences.slice(1).replace(/\.$/, '')}.`,
    inputSchema: inputSchema(input),
    annotations: { readOnlyHint: effect === 'reads', destructiveHint: effect === 'loses' },
  };
}

function reportOn(scenario: unknown, { texts }: Session) {
  const { name, text } = texts.read('validate', scenario);
  return textReport(name, text);
}

/** `validate` for an agent, whose scenario is in no file. */
const validateTool = action({
  name: 'validate',
  summary: 'check a scenario without using it: every error with its line, and warnings of likely mistakes',
  effect: 'reads',
  scope: 'sandbox',
  input: { scenario: document('the scenario as YAML or JSON') },
  run: ({ scenario }, session) => Promise.resolve(reportOn(scenario, session).json),
  lines(_json, session, { scenario }) {
    const { lines, isUsable } = reportOn(scenario, session);
    if (isUsable) return lines;
    throw new SettingsError(lines.join('\n'));
  },
});

/** The page of the documentation, for an agent that has no access to it. */
const referenceTool = action({
  name: 'scenario_reference',
  summary: 'print the reference of the scenario language, about 25 KB',
  effect: 'reads',
  scope: 'sandbox',
  run: () => Promise.resolve(packageText('docs/scenarios.md')),
  lines: (page) => page.trimEnd().split('\n'),
});

export function mcpServer(actor: Actor): McpServer {
  const tools = [...ACTIONS, validateTool, referenceTool];
  const named = (name: string): Action => {
    const found = tools.find((tool) => toolName(tool.name) === name);
    if (found !== undefined) return found;
    const names = tools.map((tool) => toolName(tool.name));
    throw new Error(`there is no tool ${name}${suggestion(name, names)}: the tools are ${names.join(', ')}`);
  };
  const server = new McpServer(
    { name: 'payout-sandbox', version: packageVersion() },
    { capabilities: { tools: {} }, instructions: instructions(actor) },
  );
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(listed) }));
  server.server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, { signal }): Promise<CallToolResult> => {
      try {
        const given = params.arguments ?? {};
        const { text } = await named(params.name).perform(given, { ...actor, signal }, String);
        return { content: [{ type: 'text', text }] };
      } catch (error) {
        return { content: [{ type: 'text', text: errorText(error) }], isError: true };
      }
    },
  );
  return server;
}

export interface McpFlags {
  readonly url?: string;
  readonly key?: string;
}

/** The key that the README uses too. */
const KEY = 'sk_test_demo';

/** The sandbox of `--url`, or one in this process, which logs to standard error. */
async function sandboxOf(url: string | undefined, settings: Settings): Promise<Sandbox> {
  const noNewKeys = (): string => KEY;
  if (url !== undefined) return sandboxAt({ url, adminToken: settings.adminToken }, noNewKeys);
  const log = pino(logOptions(settings), pino.destination(2));
  const server = await startOwnServer(settings, log);
  return sandboxAt(server, noNewKeys, () => server.close());
}

/** `payout-sandbox mcp`. Nothing but the Model Context Protocol is written to standard output. */
export async function mcpCommand(
  { url, key }: McpFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  if (url !== undefined) checkElsewhere(url, settingFlags);
  // by default no log line for each request; on a free port, since editors start several
  const settings = readSettings(settingFlags, {
    SANDBOX_LOG_LEVEL: 'warn',
    ...environment,
    SANDBOX_PORT: '0',
  });
  const worldKey = key ?? settings.apiKeys?.[0] ?? KEY;
  const sandbox = await sandboxOf(url, settings);
  return untilStopped(async (stop) => {
    const gone = new Promise((resolve) => {
      process.stdin.once('end', resolve).once('close', resolve); // the host closes it
      stop.addEventListener('abort', resolve);
    });
    const server = mcpServer(agentActor(sandbox, worldKey));
    await server.connect(new StdioServerTransport());
    if (process.stdin.isTTY) {
      complain('mcp speaks the Model Context Protocol on standard input and output: let an editor start it');
    }
    try {
      await gone;
    } finally {
      await server.close();
      await sandbox.close();
    }
    return EXIT_OK;
  });
}
