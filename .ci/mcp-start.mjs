// mcp-start.mjs COMMAND...: starts the server for coding agents, and makes a payout through it with the official client.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [command, ...args] = process.argv.slice(2);
const agent = new Client({ name: 'check-package', version: '1.0.0' });
await agent.connect(new StdioClientTransport({ command, args: [...args, 'mcp'] }));
const { tools } = await agent.listTools();
const { content, isError } = await agent.callTool({
  name: 'pay',
  arguments: { reference: 'agent-1', json: true },
});
assert.ok(!isError, content[0].text);
assert.equal(JSON.parse(content[0].text).body.data.status, 'PENDING');
await agent.close();
process.stdout.write(`mcp: ${tools.length} tools, and a payout\n`);
