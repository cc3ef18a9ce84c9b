import { hunt, startSandbox, SandboxError, type Sandbox, type Transaction } from 'payout-sandbox';
import { matchers, type PayoutMatchers } from 'payout-sandbox/matchers';

const sandbox: Sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
const world = sandbox.world();
await world.pay({ client_ref_id: 'order-1', amount: 5 });
const payout: Transaction = await world.waitFor('order-1', 'SUCCESS');
const refusal = await world.fund(-1).catch((error: unknown) => error);
await sandbox.close();
const { findings } = await hunt({ run: ({ url }) => Promise.resolve(url), depth: 1 }).catch(
  (error: Error) => {
    return { findings: error.message.startsWith('no request used') ? [] : [error] };
  },
);
const names: readonly (keyof PayoutMatchers)[] = ['toHavePayout', 'toHaveReceived', 'toHaveGoodConduct'];
const isRight =
  payout.amount === 5 && refusal instanceof SandboxError && names.every((name) => name in matchers);
console.log(isRight, findings.length);
