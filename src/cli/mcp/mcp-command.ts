import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { pino } from 'pino';
import { SandboxError } from '../../client/control-client.ts';
import { sandboxAt, type Sandbox } from '../../client/sandbox.ts';
import { logOptions } from '../../platform/log-line.ts';
import { readSettings, SettingsError, type Settings } from '../../settings.ts';
import { checkElsewhere } from '../flag-checks.ts';
import { complain, EXIT_OK } from '../output.ts';
import { startOwnServer, type SettingFlags } from '../own-server.ts';
import { untilStopped } from '../stop-signal.ts';
import { agentActor } from './agent-actor.ts';
import { mcpServer } from './mcp-server.ts';

export interface McpFlags {
  readonly url?: string;
  readonly key?: string;
  readonly allowCommands?: boolean;
}

/** The key that the README uses too. */
const KEY = 'sk_test_demo';

/** The sandbox of `--url`, or one in this process, which logs to standard error. */
async function sandboxOf(url: string | undefined, settings: Settings): Promise<Sandbox> {
  const { adminToken, apiKeys } = settings;
  const noNewKeys = (): string => KEY;
  if (url !== undefined) return sandboxAt({ url, adminToken }, noNewKeys);
  const log = pino(logOptions(settings), pino.destination(2));
  const server = await startOwnServer(settings, log);
  return sandboxAt({ ...server, apiKeys }, noNewKeys, () => server.close());
}

/** Rejects if a running sandbox does not accept the key, and otherwise never settles: it may start later than this server. */
async function keyRefused(sandbox: Sandbox, key: string): Promise<never> {
  try {
    await sandbox.world(key).summary();
  } catch (error) {
    if (error instanceof SandboxError && error.status === 401) {
      throw new SettingsError(`--key: ${error.message}`, { cause: error });
    }
  }
  return new Promise(() => undefined);
}

/** `payout-sandbox mcp`. Nothing but the Model Context Protocol is written to standard output. */
export async function mcpCommand(
  { url, key, allowCommands = false }: McpFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  if (url !== undefined) checkElsewhere(url, settingFlags);
  // by default no log line for each request; on a free port, since editors start several
  const settings = readSettings(settingFlags, { LOG_LEVEL: 'warn', ...environment, PORT: '0' });
  const worldKey = key ?? settings.apiKeys?.[0] ?? KEY;
  const sandbox = await sandboxOf(url, settings);
  return untilStopped(async (stop) => {
    const gone = new Promise((resolve) => {
      process.stdin.once('end', resolve).once('close', resolve); // the host closes it
      stop.addEventListener('abort', resolve);
    });
    const server = mcpServer(agentActor(sandbox, worldKey), allowCommands);
    await server.connect(new StdioServerTransport());
    if (process.stdin.isTTY) {
      complain('mcp speaks the Model Context Protocol on standard input and output: let an editor start it');
    }
    try {
      await Promise.race([gone, keyRefused(sandbox, worldKey)]);
    } finally {
      await server.close();
      await sandbox.close();
    }
    return EXIT_OK;
  });
}
