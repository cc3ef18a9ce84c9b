/** The variable with which `referee`, `hunt` and `matrix` let the sandboxes of their command join them. */
export const JOIN_VARIABLE = 'PAYOUT_SANDBOX_JOIN';

/** Where what a client reports wrongly is sent, below the address. */
export const MISREPORTED = '/misreported';

/** Lets the process that judges this one, if there is one, know what a client reports wrongly. */
export async function shareMisreport(text: string): Promise<void> {
  const { process } = globalThis as { process?: { env: Record<string, string | undefined> } }; // a browser has none
  const address = process?.env[JOIN_VARIABLE];
  if (!address) return;
  await fetch(address + MISREPORTED, { method: 'POST', body: text }).catch(() => undefined); // it fails anyway
}

/** A sandbox that was started elsewhere, for this process. */
export interface JoinedSandbox {
  readonly url: string;
  readonly adminToken: string;
  readonly close: () => Promise<void>;
}

/** Asks the process that judges this one to start a sandbox. @param folder where the relative paths of the options begin */
export async function joinSandbox(address: string, options: object, folder: string): Promise<JoinedSandbox> {
  let response: Response;
  try {
    response = await fetch(address, { method: 'POST', body: JSON.stringify({ options, folder }) });
  } catch (cause) {
    throw new Error(
      `${JOIN_VARIABLE} is ${address}, but no referee, hunt or matrix responds there: unset the variable to start a sandbox in this process`,
      { cause },
    );
  }
  if (!response.ok) throw new Error(await response.text());
  const { id, ...server } = (await response.json()) as JoinedSandbox & { readonly id: number };
  return {
    ...server,
    async close() {
      await fetch(`${address}/${id}`, { method: 'DELETE' });
    },
  };
}
