import { startSandbox, SandboxError, type Sandbox, type Transaction } from 'payout-sandbox';
import { matchers, type PayoutMatchers } from 'payout-sandbox/matchers';
import schema = require('payout-sandbox/schema');

async function main(): Promise<void> {
  const sandbox: Sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
  const world = sandbox.world();
  await world.pay({ client_ref_id: 'order-1', amount: 5 });
  const payout: Transaction = await world.waitFor('order-1', 'SUCCESS');
  const refusal = await world.fund(-1).catch((error: unknown) => error);
  await sandbox.close();
  const names: readonly (keyof PayoutMatchers)[] = ['toHavePayout', 'toHaveReceived', 'toHaveGoodConduct'];
  const type: string = schema.properties.rules.type;
  const isRight =
    payout.amount === 5 &&
    type === 'array' &&
    refusal instanceof SandboxError &&
    names.every((name) => name in matchers);
  console.log(isRight, 0);
}
void main();
