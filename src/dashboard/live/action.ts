import { useState } from 'preact/hooks';
import { SandboxError } from '../../client/control-client.ts';
import { messageOf } from '../lists/formats.ts';

/** The message of a refused action: the invalid fields, if there are any. */
const refusalText = (error: unknown): string =>
  error instanceof SandboxError && error.errors.length > 0
    ? error.errors.map(({ message }) => message).join('; ')
    : messageOf(error);

/** Runs one action at a time against the sandbox: whether it is running, and why it was refused. */
export function useAction() {
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const run = (act: () => Promise<void>): void => {
    if (isBusy) return;
    setBusy(true);
    setRefusal(null);
    act()
      .catch((error: unknown) => setRefusal(refusalText(error)))
      .finally(() => setBusy(false));
  };
  return { isBusy, refusal, run };
}
