import { spawn } from 'node:child_process';
import type { Client } from '../../trials/hunt/world-runs.ts';
import { withoutControls } from '../../world/journal/journal-text.ts';
import { SettingsError } from '../../settings.ts';
import { DEFAULT_EXIT_CODES, type ExitCodes } from './exit-codes.ts';
import { EMPTY_COMMAND, filledIn, variableOf } from '../referee/judge-command.ts';

/** What its last words may take to arrive, once a command has ended while something that it left behind keeps its output open. */
const LAST_WORDS_MS = 200;
/** How much of what a command wrote is shown when it fails. */
const TAIL_CHARACTERS = 2000;

/** The escape sequences that colour a terminal. */
// oxlint-disable-next-line no-control-regex -- that is what they begin with
const COLOURS = /\u001B\[[\d;?]*[A-Za-z]/g;

/** Text without colours and control characters, apart from the ends of its lines. */
const plainText = (text: string): string =>
  text.replaceAll(COLOURS, '').trim().split('\n').map(withoutControls).join('\n');

const HAS_GROUPS = process.platform !== 'win32';

/**
 * A command as a client that is run once for each world. Its output is shown only when it fails although the
 * service did not.
 *
 * @param env NAME=VALUE, in which {url} and {key} are filled in, as in the command
 * @param exitCodes what the command says of its payouts
 */
export const huntedCommand =
  (
    command: readonly string[],
    env: readonly string[],
    environment: NodeJS.ProcessEnv,
    exitCodes: ExitCodes = DEFAULT_EXIT_CODES,
  ): Client =>
  ({ url, apiKey: key }, signal, joinVariables) =>
    new Promise((resolve, reject) => {
      const [program, ...args] = command.map((word) => filledIn(word, { url, key })) as [string, ...string[]];
      if (program === '') throw new SettingsError(EMPTY_COMMAND);
      const variables = Object.fromEntries(env.map((text) => variableOf(text, { url, key })));
      const child = spawn(program, args, {
        env: { ...environment, ...joinVariables, ...variables },
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
      child.once('exit', (code, killedBy) => {
        signal.removeEventListener('abort', killAll);
        const finish = (): void => {
          clearTimeout(timer);
          for (const output of [child.stdout, child.stderr]) output.destroy();
          const why = code === null ? `ended by ${killedBy}` : `exit code ${code}`;
          const reported = code === null ? 'failed' : (exitCodes.get(code) ?? 'failed');
          const output = plainText(tail);
          if (reported === 'paid') resolve({ kind: 'success' });
          else resolve({ kind: 'failure', why, output, isInDoubt: reported === 'in-doubt' });
        };
        const timer = setTimeout(finish, LAST_WORDS_MS); // a daemon with a session of its own outlives its group
        child.once('close', finish);
      });
    });
