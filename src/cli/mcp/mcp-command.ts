import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { pino } from 'pino';
import { sandboxAt, type Sandbox } from '../../client/sandbox.ts';
import { logOptions } from '../../platform/log-line.ts';
import { readSettings, type Settings } from '../../settings.ts';
import { checkElsewhere } from '../flag-checks.ts';
import { complain, EXIT_OK } from '../output.ts';
import { startOwnServer, type SettingFlags } from '../own-server.ts';
import { untilStopped } from '../stop-signal.ts';
import { agentActor, mcpServer } from './mcp-server.ts';

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
  const settings = readSettings(settingFlags, { LOG_LEVEL: 'warn', ...environment, PORT: '0' });
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
