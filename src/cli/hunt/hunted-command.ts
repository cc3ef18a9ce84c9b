import { spawn } from 'node:child_process';
import type { Client } from '../../hunt/world-runs.ts';
import { SettingsError } from '../../settings.ts';
import { filledIn, variableOf } from '../referee/judge-command.ts';

/** How much of what a command wrote is shown when it fails. */
const TAIL_CHARACTERS = 2000;

const HAS_GROUPS = process.platform !== 'win32';

/**
 * A command as a client that is run once for each world. Its output is shown only when it fails although the
 * service did not.
 *
 * @param env NAME=VALUE, in which {url} and {key} are filled in, as in the command
 */
export const huntedCommand =
  (command: readonly string[], env: readonly string[], environment: NodeJS.ProcessEnv): Client =>
  ({ url, apiKey: key }, signal) =>
    new Promise((resolve, reject) => {
      const [program, ...args] = command.map((word) => filledIn(word, { url, key })) as [string, ...string[]];
      const variables = Object.fromEntries(env.map((text) => variableOf(text, { url, key })));
      const child = spawn(program, args, {
        env: { ...environment, ...variables },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: HAS_GROUPS, // a process group of its own, so that everything it has started can be ended with it
      });
      let tail = '';
      for (const output of [child.stdout, child.stderr]) {
        output.setEncoding('utf8').on('data', (text: string) => {
          tail = (tail + text).slice(-TAIL_CHARACTERS);
        });
      }
      const killAll = (): void => {
        if (child.pid === undefined) return;
        try {
          if (HAS_GROUPS) process.kill(-child.pid, 'SIGKILL');
          else child.kill('SIGKILL');
        } catch {
          // all of its processes have ended
        }
      };
      signal.addEventListener('abort', killAll, { once: true });
      child.once('exit', killAll); // processes it leaves behind would disturb the next run, and keep its output open
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(new SettingsError(`${program} cannot be run (${error.code})`, { cause: error })),
      );
      child.once('close', (code, killedBy) => {
        signal.removeEventListener('abort', killAll);
        const why = code === null ? `ended by ${killedBy}` : `exit code ${code}`;
        resolve(code === 0 ? { kind: 'success' } : { kind: 'failure', why, output: tail.trim() });
      });
    });
