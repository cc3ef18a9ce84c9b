import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { agentActor, mcpServer } from '../../src/cli/mcp-server.ts';
import { connectSandbox } from '../../src/index.ts';
import { Program, MAIN, runInProcess } from '../support/program.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const ADMIN = 'admin-of-the-agents';
const KEY = 'sk_test_agent';

/** What an agent reads of a response. */
interface Told {
  readonly text: string;
  readonly isError: boolean;
}

/** A coding agent that is connected to a sandbox of its own. */
async function agentFor({ adminToken = ADMIN, url = '' } = {}) {
  const sandbox =
    url === '' ? await sandboxFor({ clock: '2026-01-15T10:30:00Z', adminToken: ADMIN }) : { url };
  const actor = agentActor(connectSandbox({ url: sandbox.url, adminToken }), KEY);
  const [here, there] = InMemoryTransport.createLinkedPair();
  const server = mcpServer(actor);
  const agent = new Client({ name: 'agent', version: '1.0.0' });
  await Promise.all([server.connect(there), agent.connect(here)]);
  onTestFinished(() => agent.close());
  const tell = async (name: string, args: object = {}): Promise<Told> => {
    const result = (await agent.callTool({ name, arguments: { ...args } })) as CallToolResult;
    const [content] = result.content;
    return { text: content?.type === 'text' ? content.text : '', isError: result.isError === true };
  };
  /** The response of a call that must succeed, as JSON. */
  const ask = async (name: string, args: object = {}) => {
    const { text, isError } = await tell(name, { json: true, ...args });
    expect({ text, isError }).toMatchObject({ isError: false });
    return JSON.parse(text) as Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- as `Seen.body`
  };
  return { agent, url: sandbox.url, tell, ask };
}

test('an agent learns where the client under test has to send its payouts', async () => {
  const { agent, url, ask } = await agentFor();
  expect(agent.getInstructions()).toContain(`base address ${url} and, as its bearer key, the key ${KEY}`);
  expect(await ask('status')).toMatchObject({ balance: 1_000_000, transactions: { PENDING: 0 } });
});

test('an agent orders a lost response, pays twice because of it, and sees that in the journal, the payouts and the verdict', async () => {
  const { tell, ask } = await agentFor();
  const lost = { match: { attempt: 1 }, times: 1, effect: { commit: true, respond: { status: 500 } } };
  expect((await tell('rule_add', { rules: { name: 'lost', ...lost } })).text).toBe('added world/lost');
  expect(await ask('pay', { reference: 'a' })).toMatchObject({
    status: 500,
    headers: { 'x-sandbox-rule': 'world/lost' },
  });
  expect(await ask('pay', { reference: 'b' })).toMatchObject({ body: { data: { status: 'PENDING' } } });
  expect((await ask('advance', { time: 'idle' })).changes).toHaveLength(2);
  expect(await ask('payouts', { at_risk: true })).toMatchObject({
    transactions: [{ client_ref_id: 'a', status: 'SUCCESS' }],
  });
  const { text: journal } = await tell('journal', { status: 500 });
  expect(journal).toMatch(/#1 .* a ₹1,000\.00 IMPS → 500 INTERNAL_ERROR \(rule world\/lost; payout made; /);
  expect(await ask('journal', { number: 2 })).toMatchObject({ request: { body: { client_ref_id: 'b' } } });
  const { text: verdict, isError } = await tell('verdict', { intent: 'beneficiary_account' });
  expect(isError).toBe(false);
  expect(verdict).toContain('paid-twice   b is a second payment of a: ₹1,000.00 too much');
});

test('an agent gives one rule, a list of them, or the rules of a scenario, in the order in which they are tried', async () => {
  const { tell } = await agentFor();
  const rule = (name: string) => ({ name, effect: { respond: 500 } });
  expect((await tell('rule_add', { rules: [rule('a'), rule('b')] })).text).toBe(
    'added world/a\nadded world/b',
  );
  expect((await tell('rule_add', { rules: { rules: [rule('c')] } })).text).toBe('added world/c');
  expect((await tell('scenario')).text).toMatch(/world\/c[^]*world\/a[^]*world\/b/);
});

test('an agent checks, explains and uses a scenario of its own', async () => {
  const { tell, ask } = await agentFor();
  const scenario =
    'description: no RTGS\nrules:\n  - name: no-rtgs\n    match: { transfer_mode: RTGS }\n    effect: { respond: 402 }\n';
  expect(await tell('validate', { scenario })).toEqual({ text: 'the text: ok, 1 rule', isError: false });
  expect(await ask('validate', { scenario: { a: 1 } })).toMatchObject({ problems: [{ line: 1, path: 'a' }] });
  expect((await tell('use', { scenario })).text).toBe('inline: no RTGS (1 rule)');
  expect(await ask('explain', { mode: 'RTGS' })).toMatchObject({ rule: 'inline/no-rtgs', payout: null });
  expect(await ask('pay', { mode: 'RTGS', amount: 300_000 })).toMatchObject({ status: 402 });
  expect((await tell('scenario')).text).toMatch(/^inline: no RTGS\nrule +.*\ninline\/no-rtgs +1 +1\n/);
  expect((await tell('use')).text).toMatch(/^default: /);
  expect((await tell('scenario', { list: true })).text).toMatch(/^strict +\w/m);
  expect(await ask('scenario_reference')).toMatch(/^# Scenarios\n/);
});

test('an agent keeps snapshots under names, and restores one also into another world', async () => {
  const { ask, tell } = await agentFor();
  await tell('fund', { amount: 500 });
  await tell('snapshot_save', { file: 'rich' });
  await tell('fund', { amount: 1_000_500, withdraw: true });
  expect(await ask('snapshot_load', { file: 'rich' })).toMatchObject({ balance: 1_000_500 });
  expect(await ask('snapshot_load', { file: 'rich', key: 'sk_test_fork' })).toMatchObject({
    balance: 1_000_500,
  });
  expect(await ask('worlds')).toMatchObject([{}, { balance: 1_000_500 }]);
  for (let nth = 1; nth < 10; nth += 1) await tell('snapshot_save', { file: `other-${nth}` });
  expect((await tell('snapshot_save', { file: 'one-more' })).text).toMatch(
    /^at most 10 snapshots .* rich, other-1/,
  );
});

testRows([
  ['pay', { amout: 5 }, 'amout is not known here (did you mean amount?)'],
  ['journal', { number: 7 }, 'the journal of this world has no request 7'],
  ['rule_add', { file: 'x' }, 'rules is required\nfile is not known here (known: rules,'],
  ['use', { scenario: 'rules: [' }, 'the text:1:9 '],
  ['verdict', { expect: [{ account: '1', amount: 1 }], ended: true }, 'no request used the key sk_test_'],
  ['verdict', { expect: 'x' }, 'the text:1:1 must be a list'],
  ['staus', {}, 'there is no tool staus (did you mean status?)'],
])('a wrong call is a tool error that says what is wrong', async (name, args, words) => {
  const { tell } = await agentFor();
  const { text, isError } = await tell(name, args);
  expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(words) });
  expect(text).not.toMatch(/\n\s+at /); // no stack
});

test('an agent learns that it has no admin token, or that its sandbox is gone', async () => {
  const { url, tell } = await agentFor({ adminToken: '' });
  expect((await tell('worlds')).text).toMatch(
    /^The admin token is missing or wrong.*; ask the user to give it to this server with --admin-token /,
  );
  expect((await tell('status')).isError).toBe(false);
  const gone = url.replace(/\d+$/, '1');
  const other = await agentFor({ url: gone });
  expect(await other.tell('status')).toEqual({
    isError: true,
    text: expect.stringMatching(`^no sandbox responds at ${gone} .*; ask the user to start one`),
  });
});

test('the descriptions of all tools together take less than 20,000 characters', async () => {
  const { agent } = await agentFor();
  const { tools } = await agent.listTools();
  expect(JSON.stringify(tools).length).toBeLessThan(20_000);
  const unsaid = tools.filter(({ description = '' }) => description.length < 40 || description.length > 450);
  expect(unsaid.map(({ name }) => name)).toEqual([]);
  const readers = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
  expect(readers).toContain('journal');
  expect(readers).not.toContain('reset');
});

test('mcp writes nothing but JSON-RPC to standard output, and ends with standard input', async () => {
  const program = new Program(process.execPath, [MAIN, 'mcp', '--log-level', 'info'], {});
  const send = (message: object): void =>
    void program.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  send({ id: 10, method: 'initialize', params });
  send({ method: 'notifications/initialized' });
  send({ id: 11, method: 'tools/call', params: { name: 'pay', arguments: {} } });
  await program.says(/"id":11/);
  program.child.stdin!.end();
  const { code, stdout, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('"route":"initiate"') });
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toMatchObject([
    { jsonrpc: '2.0', id: 10 },
    { jsonrpc: '2.0', id: 11, result: { content: [{ text: expect.stringContaining('PENDING') }] } },
  ]);
});

testRows([[['--url', 'http://127.0.0.1:1', '--port', '0'], '--port cannot be set with --url']])(
  'wrong flags of mcp are refused in a sentence',
  async (args, words) => {
    const { code, stderr } = await runInProcess(['mcp', ...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
  },
);
