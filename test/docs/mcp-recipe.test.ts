import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';
import { tableUnder } from '../support/markdown.ts';
import { projectFolder } from '../support/temporary-folder.ts';

interface Configured {
  readonly command: string;
  readonly args: readonly string[];
}

const configOf = (file: string) =>
  JSON.parse(readFileSync(`docs/recipes/mcp/${file}`, 'utf8')) as Record<string, Record<string, Configured>>;

const inVsCode = configOf('vscode-mcp.json')['servers']!['payout-sandbox']!;
const inClaudeCode = configOf('claude-code-mcp.json')['mcpServers']!['payout-sandbox']!;

test('the files for editors start the program, and the page lists exactly its tools', async () => {
  const folder = projectFolder();
  const [program, ...others] = inClaudeCode.args;
  expect(inVsCode.args).toEqual([`\${workspaceFolder}/${program}`, ...others]);
  const agent = new Client({ name: 'agent', version: '1.0.0' });
  const { command } = inVsCode;
  await agent.connect(new StdioClientTransport({ command, args: [...inClaudeCode.args], cwd: folder }));
  const { tools } = await agent.listTools();
  await agent.close();
  const rows = tableUnder(readFileSync('docs/recipes/mcp.md', 'utf8'), 'What the agent gets');
  const listed = rows.flatMap(([names]) => [...names!.matchAll(/[a-z_]+/g)].map(([name]) => name));
  expect(listed.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
});
