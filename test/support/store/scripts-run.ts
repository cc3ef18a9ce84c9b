import { onTestFinished, vi } from 'vitest';
import type { ScriptName } from '../../../src/store/scripts.ts';
import { StoreConnection } from '../../../src/store/store-connection.ts';

type Script = StoreConnection['script'];

/** A script that a server of this process has run in its store. */
interface Run {
  readonly name: ScriptName;
  readonly by: StoreConnection;
  /** Runs it. @returns its reply */
  readonly run: () => Promise<unknown>;
}

/** Puts a function in the place of all calls of scripts. @returns a function that ends it; the end of the test does, too */
export function onScripts(act: (script: Run) => Promise<unknown>): () => void {
  const script: Script = StoreConnection.prototype.script; // oxlint-disable-line typescript/unbound-method -- called with its connection
  const spy = vi.spyOn(StoreConnection.prototype, 'script');
  spy.mockImplementation(async function (this: StoreConnection, name, ...args) {
    return act({ name, by: this, run: () => script.call(this, name, ...args) });
  });
  const restore = (): void => spy.mockRestore();
  onTestFinished(restore);
  return restore;
}

/** Loses the replies of all scripts, or of one. @param runs whether they run all the same @returns a function that ends it */
export const loseReplies = (runs: boolean, only?: ScriptName): (() => void) =>
  onScripts(async ({ name, run }) => {
    if (runs || (only ?? name) !== name) {
      const reply = await run();
      if (!runs) return reply;
    }
    throw new Error('Connection is closed.');
  });

/** Does something once, between the run of a server's script in the store and its reply. What it throws loses the reply. */
export function beforeReply(
  { connection }: { readonly connection: StoreConnection },
  name: ScriptName,
  act: () => Promise<unknown>,
): void {
  const restore = onScripts(async (script) => {
    const reply = await script.run();
    if (script.name !== name || script.by !== connection) return reply;
    restore();
    await act();
    return reply;
  });
}
