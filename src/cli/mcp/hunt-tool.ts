import { z } from 'zod';
import { listDocument, text, usedText, wholeNumber } from '../../actions/arguments.ts';
import { action } from '../../actions/sandbox-action.ts';
import { SettingsError } from '../../settings.ts';
import { intentOf } from '../../actions/journal-actions.ts';
import { expectedTable } from '../../referee/expected-table.ts';
import { GOALS } from '../../trials/hunt/goals.ts';
import { huntSettings } from '../../trials/hunt/options.ts';
import { clientCommand } from '../client-command.ts';
import { huntReport, progressText, resultLines } from '../hunt/hunt-report.ts';
import { huntInOwnSandbox, huntingSettings } from '../hunt/hunt-sandbox.ts';
import { exitCodesOf, huntedCommand } from '../hunt/hunted-command.ts';
import { quoted } from '../output.ts';
import { givenSettings, defaultWorkers } from '../own-server.ts';

function refuse(command: readonly string[], env: readonly string[]): never {
  const words = ['payout-sandbox', 'hunt', ...env.flatMap((text) => ['--env', text]), '--', ...command];
  throw new SettingsError(
    [
      'This server was not allowed to run commands. Two ways to hunt:',
      `- run it in a terminal yourself: ${words.map(quoted).join(' ')}`,
      '- ask the user to add --allow-commands to the arguments of this server, and to start it again.',
    ].join('\n'),
  );
}

/** Works only where the user has allowed it, since it runs commands. */
export const huntTool = (mayRunCommands: boolean) =>
  action({
    name: 'hunt',
    summary:
      'run a command that makes one small payout again and again, each time with different failures of the service, and find the fewest that make it pay twice, lose a payout, get stuck or misbehave',
    details:
      'It runs the command on this machine, many times, in a sandbox of its own, and shows a scenario that repeats each finding. The command must exit with 0 only when everything was paid, and with 75 when it does not know.',
    effect: 'changes',
    scope: 'nothing',
    input: {
      command: z
        .array(z.string())
        .min(1)
        .describe('the program and its arguments, without a shell: ["node","pay-once.mjs"]'),
      env: z
        .record(z.string(), z.string())
        .default({})
        .describe(
          'variables of the command; {url} and {key} are filled in: {"PAYOUT_URL":"{url}","PAYOUT_KEY":"{key}"}',
        ),
      goals: z.array(z.enum(GOALS)).min(1).optional().describe('what to look for [default all]'),
      intent: z.string().optional().describe('as for verdict'),
      expect: listDocument('as for verdict').optional(),
      exit_codes: text('what the exit codes say [default paid=0,failed=1,in-doubt=75]').optional(),
      depth: wholeNumber('the most failures in one run', 1, 10).default(2),
      runs: wholeNumber('the most runs').default(200),
      workers: wholeNumber('how many runs to do at once', 1, 64).optional(),
      time: z.string().default('45s').describe('how long to search'), // hosts wait a minute by default
      patience: z.string().optional().describe('the longest that the command may wait for a response: 10s'),
      scenario: z
        .string()
        .optional()
        .describe('a scenario, by name or file, to which the failures are added'),
    },
    async run(
      { command, env, scenario, intent, expect, exit_codes, workers = defaultWorkers(), ...given },
      { signal = new AbortController().signal, progress = () => undefined, texts },
    ) {
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      if (!mayRunCommands) refuse(command, variables);
      const settings = huntSettings({
        ...given,
        ...(intent !== undefined && { intent: intentOf(intent, 'intent') }),
        ...(expect !== undefined && {
          expect: usedText('expect', texts.read('expect', expect), expectedTable),
        }),
        workers,
      });
      const sandboxSettings = huntingSettings({ scenario }, process.env);
      const result = await huntInOwnSandbox(settings, sandboxSettings, givenSettings({}, process.env), {
        client: huntedCommand(
          clientCommand(command, variables, process.env),
          exitCodesOf(exit_codes, 'exit_codes'),
        ),
        mayKill: true,
        tableName: 'expect',
        stop: signal,
        onRun: (at) => progress(progressText(at)),
      });
      return { ...result, wasStopped: signal.aborted };
    },
    toJson: huntReport,
    lines(result) {
      const findings = result.findings.map(
        ({ story, yaml }) => `${story}\nA scenario that repeats it:\n\n${yaml}`,
      );
      return [...findings, ...resultLines(result, result.wasStopped)].flatMap((text) => text.split('\n'));
    },
  });
