import { expect, test } from 'vitest';
import { Program } from '../support/program.ts';
import { fileWith } from '../support/temporary-folder.ts';

/**
 * A test that uses the library while everything is replaced that fake timers, jsdom, nock, msw and stubs of `fetch` replace. Some leave
 * a function that never calls back, others none at all: here, any use of one ends the program.
 */
const SCRIPT = `
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';

const [library, when] = process.argv.slice(2);
const names = Object.getOwnPropertyNames(globalThis);
const fail = (what) => () => { console.log(what + ' was used'); process.exit(1); };

function replaceAll() {
  const kept = ['console', 'process', 'Buffer', 'global', 'WebAssembly', 'Intl'];
  const ofLanguage = /^(?:[A-Z]\\w*Error|(?:Big)?(?:Ui|I)nt\\d+\\w*|Float\\d+Array|Error|Date|Function|undefined|globalThis)$|^(?:Object|Array|Map|Set|Weak\\w+|Promise|Proxy|Reflect|Symbol|String|Number|Boolean|BigInt|RegExp|Math|JSON|Atomics|DataView|(?:Shared)?ArrayBuffer|Iterator|FinalizationRegistry|NaN|Infinity|eval|is\\w+|parse\\w+|\\w*codeURI\\w*|\\w*scape)$/;
  for (const name of names) {
    if (kept.includes(name) || ofLanguage.test(name)) continue;
    Object.defineProperty(globalThis, name, { get: fail(name), configurable: true });
  }
  globalThis.Date = class extends Date { static now() { return fail('Date.now')(); } };
  for (const name of Object.keys(timers)) if (name !== 'promises') timers[name] = fail('timers.' + name);
  for (const name of ['setTimeout', 'setImmediate', 'setInterval']) timersPromises[name] = fail('timers/promises.' + name);
  for (const module of [http, https]) {
    module.request = module.get = fail('http.request');
    module.globalAgent.createConnection = fail('the global agent');
  }
  http.ClientRequest = class extends http.ClientRequest { constructor() { super(); fail('http.ClientRequest')(); } };
  syncBuiltinESMExports();
}

if (when === 'before') replaceAll();
const { startSandbox, connectSandbox } = await import(library);
const sandbox = await startSandbox({ settlement: 'demo', clockSpeed: 3600 });
if (when === 'after') replaceAll();
const world = sandbox.world();
const events = await world.events();
await world.pay({ client_ref_id: 'order-1' });
await world.waitFor('order-1', 'SUCCESS');
for await (const { type } of events) if (type === 'settlement') break;
await world.clock.freeze();
await world.clock.advance('2h');
await world.rule({ name: 'late', effect: { delay: '1ms', respond: { status: 503 } } });
const { status } = await world.pay({ client_ref_id: 'order-2' });
await world.expect({ status: 503 }).exactly(1);
await world.expectGoodConduct({ failOn: 'error' });
await connectSandbox({ url: sandbox.url }).world().restore(await world.snapshot());
const other = await startSandbox();
await other.close();
await sandbox.close();
console.log(status, 'done');
`;

test.each([
  ['index.js', 'after'],
  ['index.cjs', 'after'],
])(
  '%s works when a test replaces timers, the clock, fetch and node:http %s it was loaded',
  async (file, when) => {
    const script = fileWith('test.mjs', SCRIPT);
    const program = new Program(process.execPath, [script, `${process.cwd()}/dist/${file}`, when], {});
    expect(await program.ended).toMatchObject({ stdout: '503 done\n', stderr: '', code: 0 });
  },
);
