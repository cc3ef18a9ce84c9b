import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool as ListedTool,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { suggestion } from '../../contract/suggestion.ts';
import { packageVersion } from '../../package-files.ts';
import { clockTools } from './clock-tools.ts';
import { huntTool } from './hunt-tool.ts';
import { proofTools } from './proof-tools.ts';
import { scenarioTools } from './scenario-tools.ts';
import { errorText, type Session, type Tool } from './tool.ts';
import { worldTools } from './world-tools.ts';

const TOOLS: readonly Tool[] = [...worldTools, ...clockTools, ...scenarioTools, ...proofTools, huntTool];

/** The instructions that an agent gets when it connects. */
const instructions = ({ sandbox, key }: Session): string =>
  [
    'A stand-in for a payout service, to test payout clients: payouts in INR by IMPS, NEFT, RTGS and UPI, a wallet, a clock that you control, and every failure on demand. No money moves.',
    `Give the client under test the base address ${sandbox.url} and the bearer key ${key}. It calls POST /payout/initiate, GET /payout/status and GET /client/fetchbalance.`,
    'Each key has a world of its own: wallet, payouts, clock, scenario and journal. Use another key for an independent test.',
    'Payouts settle in the time of their world: use advance_clock instead of waiting. A typical test: reset, freeze_clock, use_scenario or add_rule, run the client, then journal, payouts and verdict.',
  ].join('\n');

/** A tool as the protocol lists it. */
const listed = ({ name, description, input, effect }: Tool): ListedTool => ({
  name,
  description,
  inputSchema: z.toJSONSchema(input, { io: 'input', target: 'draft-7' }) as ListedTool['inputSchema'],
  annotations: {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'loses',
    openWorldHint: false,
  },
});

function toolOf(name: string): Tool {
  const found = TOOLS.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = TOOLS.map((tool) => tool.name);
  throw new Error(`there is no tool ${name}${suggestion(name, names)}: there are ${names.join(', ')}`);
}

const asText = (answer: unknown): string =>
  typeof answer === 'string' ? answer : JSON.stringify(answer, null, 1);

/** The server of one connection. It checks arguments itself, so that its errors read like those of the control API. */
export function mcpServer(session: Session): McpServer {
  const server = new McpServer(
    { name: 'payout-sandbox', version: packageVersion() },
    { capabilities: { tools: {} }, instructions: instructions(session) },
  );
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(listed) }));
  server.server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, { signal, sendNotification }): Promise<CallToolResult> => {
      const progressToken = params._meta?.progressToken;
      let steps = 0;
      const progress = (message: string): void => {
        if (progressToken === undefined) return;
        steps += 1;
        const sent = { progressToken, progress: steps, message };
        sendNotification({ method: 'notifications/progress', params: sent }).catch(() => undefined); // the host is gone
      };
      try {
        const answer = await toolOf(params.name).run(params.arguments ?? {}, session, { signal, progress });
        return { content: [{ type: 'text', text: asText(answer) }] };
      } catch (error) {
        return { content: [{ type: 'text', text: errorText(error) }], isError: true };
      }
    },
  );
  return server;
}
