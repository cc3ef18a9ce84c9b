import { useEffect, useState } from 'preact/hooks';
import { ControlClient } from '../../client/control-client.ts';
import type { CheckScenarioResponse } from '../../contract/control-responses.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { messageOf } from '../ui/formats.ts';

export type ScenarioProblem = CheckScenarioResponse['problems'][number];

/** A text is checked when it has not changed for this long. */
const PAUSE_MS = 300;

type Given = { readonly text: string } | { readonly document: unknown };

/** Asks the sandbox for both forms of a scenario, and its problems. */
export const checkScenario = ({ world }: LiveWorld, given: Given): Promise<CheckScenarioResponse> =>
  new ControlClient(world.url, world.apiKey).post('/scenario/check', given);

/** A text, and the result of its latest check. */
export interface Check {
  readonly text: string;
  /** null if the sandbox could not check it: `trouble` says why. */
  readonly answer: CheckScenarioResponse | null;
  readonly trouble: string | null;
}

/** Checks a text whenever its writer pauses. */
export function useCheck(live: LiveWorld, text: string): Check | null {
  const [check, setCheck] = useState<Check | null>(null);
  useEffect(() => {
    let isOld = false;
    const take = (answer: CheckScenarioResponse | null, trouble: string | null): void => {
      if (!isOld) setCheck({ text, answer, trouble });
    };
    const timer = setTimeout(() => {
      checkScenario(live, { text }).then(
        (answer) => take(answer, null),
        (error: unknown) => take(null, messageOf(error)),
      );
    }, PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [live, text]);
  return check;
}
