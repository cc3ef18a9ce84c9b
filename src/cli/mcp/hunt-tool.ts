import { z } from 'zod';
import { GOALS } from '../../hunt/goals.ts';
import { huntSettings } from '../../hunt/options.ts';
import { progressText, resultLines } from '../hunt/hunt-report.ts';
import { huntInOwnSandbox, huntingSettings } from '../hunt/hunt-sandbox.ts';
import { huntedCommand } from '../hunt/hunted-command.ts';
import { quoted } from '../output.ts';
import { usualWorkers } from '../own-server.ts';
import { tool, ToolError } from './tool.ts';

/** Below the minute for which hosts wait by default. */
const USUAL_TIME = '45s';

const envTexts = (env: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

function refuse(command: readonly string[], env: readonly string[]): never {
  const words = ['payout-sandbox', 'hunt', ...env.flatMap((text) => ['--env', text]), '--', ...command];
  throw new ToolError(
    [
      'This server was not allowed to run commands. Two ways to hunt:',
      `- run it in a terminal yourself: ${words.map(quoted).join(' ')}`,
      '- ask the user to add --allow-commands to the arguments of this server, and to start it again.',
    ].join('\n'),
  );
}

/** Works only where the user has allowed it, since it runs commands. */
export const huntTool = tool({
  name: 'hunt',
  description:
    'Runs a command that makes one small payout again and again, each time with different failures of the service, and finds the fewest that make it pay twice, lose a payout, get stuck or misbehave. Uses a sandbox of its own. Each find comes with a scenario that repeats it. The command must exit with 0 only when everything was paid.',
  effect: 'changes',
  input: z.strictObject({
    command: z
      .array(z.string())
      .min(1)
      .describe('The program and its arguments, without a shell: ["node","pay-once.mjs"]'),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe(
        'Variables of the command; {url} and {key} are filled in: {"PAYOUT_URL":"{url}","PAYOUT_KEY":"{key}"}',
      ),
    goals: z.array(z.enum(GOALS)).min(1).optional().describe('What to look for. By default all'),
    depth: z.int().default(2).describe('The most failures in one run'),
    runs: z.int().default(200).describe('The most runs'),
    time: z.string().default(USUAL_TIME).describe('How long to search'),
    patience: z.string().optional().describe('The longest that the command may wait for an answer: 10s'),
    scenario: z.string().optional().describe('A scenario, by name or file, to which the failures are added'),
  }),
  async run({ command, env, scenario, ...given }, { mayRunCommands }, { signal, progress }) {
    const variables = envTexts(env);
    if (!mayRunCommands) refuse(command, variables);
    const settings = huntSettings({ ...given, workers: usualWorkers() });
    const sandboxSettings = huntingSettings({ scenario }, process.env);
    const result = await huntInOwnSandbox(settings, sandboxSettings, {
      client: huntedCommand(command, variables, process.env),
      stop: signal,
      onRun: (at) => progress(progressText(at)),
    });
    const finds = result.finds.map(({ story, yaml }) => `${story}\nA scenario that repeats it:\n\n${yaml}`);
    return [...finds, ...resultLines(result, signal.aborted)].join('\n');
  },
});
