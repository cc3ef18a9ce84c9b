import { textOf, type HttpResponse, type Send } from './control-client.ts';

/** The variable with which `referee`, `hunt` and `matrix` let the sandboxes of their command join them. */
export const JOIN_VARIABLE = 'PAYOUT_SANDBOX_JOIN';

/** Where what a client reports wrongly is sent, below the address. */
export const MISREPORTED = '/misreported';

/** Lets the process that judges this one, if there is one, know what a client reports wrongly. */
export async function shareMisreport(send: Send, text: string): Promise<void> {
  const { process } = globalThis as { process?: { env: Record<string, string | undefined> } }; // a browser has none
  const address = process?.env[JOIN_VARIABLE];
  if (!address) return;
  await send(address + MISREPORTED, { method: 'POST', body: text }).catch(() => undefined); // it fails anyway
}

/** A sandbox that was started elsewhere, for this process. */
export interface JoinedSandbox {
  readonly url: string;
  readonly adminToken: string;
  readonly certificate?: string | undefined;
  readonly close: () => Promise<void>;
}

/** Asks the process that judges this one to start a sandbox. @param folder where the relative paths of the options begin */
export async function joinSandbox(
  send: Send,
  address: string,
  options: object,
  folder: string,
): Promise<JoinedSandbox> {
  let response: HttpResponse;
  try {
    response = await send(address, { method: 'POST', body: JSON.stringify({ options, folder }) });
  } catch (cause) {
    throw new Error(
      `${JOIN_VARIABLE} is ${address}, but no referee, hunt or matrix responds there: unset the variable to start a sandbox in this process`,
      { cause },
    );
  }
  const text = await textOf(response);
  if (response.status !== 200) throw new Error(text);
  const { id, ...server } = JSON.parse(text) as JoinedSandbox & { readonly id: number };
  return {
    ...server,
    async close() {
      await textOf(await send(`${address}/${id}`, { method: 'DELETE' }));
    },
  };
}
