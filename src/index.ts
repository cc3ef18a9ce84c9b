import { JOIN_VARIABLE, joinSandbox, type JoinedSandbox } from './client/joined-sandbox.ts';
import { sendOverHttp } from './client/http-client.ts';
import { sandboxAt, type Sandbox } from './client/sandbox.ts';
import type { World } from './client/controlled-world.ts';
import type { HuntResult, Progress } from './trials/hunt/hunt.ts';
import { huntSettings, type HuntSettingsInput } from './trials/hunt/options.ts';
import { systemClock } from './platform/system-clock.ts';
import { readOptions, type Settings, type SettingsInput } from './settings.ts';

/** Loads the server only here: a client of a sandbox elsewhere, such as each run of a hunt, starts sooner. */
async function startHere(settings: Settings): Promise<Sandbox> {
  const [{ pino }, { logOptions }, { startServer }] = await Promise.all([
    import('pino'),
    import('./platform/logging.ts'),
    import('./server.ts'),
  ]);
  return sandboxOf(await startServer(settings, systemClock(), pino(logOptions(settings))));
}

/**
 * Starts a payout sandbox in this process, on a free port of the loopback address and without a log unless the
 * options say otherwise. In a command of `referee`, `hunt` or `matrix` it starts in their process, so that they see what the tests do
 * (docs/library.md); apart from that, the environment is not read.
 *
 * @param options any setting of docs/settings.md, named in camel case
 * @throws SettingsError for a wrong option or a state file that cannot be used; the error of `listen` when the port is taken
 */
export async function startSandbox(options: SettingsInput = {}): Promise<Sandbox> {
  const settings = readOptions({ port: 0, logLevel: 'silent', ...options });
  const address = process.env[JOIN_VARIABLE];
  if (!address) return startHere(settings);
  return sandboxOf(await joinSandbox(sendOverHttp, address, options, process.cwd()));
}

function sandboxOf({ close, ...server }: JoinedSandbox): Sandbox {
  let worldsMade = 0;
  const freshKey = (): string => {
    worldsMade += 1; // the same keys in every run, so that the same requests get the same ids
    return `sk_test_world_${worldsMade}`;
  };
  return sandboxAt(server, freshKey, close);
}

export interface HuntOptions extends HuntSettingsInput {
  /**
   * Runs the client once against a world of its own. The promise resolves if everything was paid, and rejects if the
   * client knows of a failure. It may also resolve with what the client reports: `'paid'`, `'failed'` or `'in-doubt'`; any
   * other value says no more than the end. `signal` is aborted when the run takes too long.
   */
  readonly run: (world: World, signal: AbortSignal) => Promise<unknown>;
  /** Settings of the sandbox, such as `scenario` or `openingBalance`. */
  readonly sandbox?: SettingsInput;
  /** Called after each run. */
  readonly onRun?: (progress: Progress) => void;
}

/**
 * Searches for the fewest failures of the service under which a client pays twice, loses a payout, gets stuck or
 * misbehaves: `const { findings } = await hunt({ run: (world) => payAll(world.url, world.apiKey) })`. Its worlds are its own, also in a
 * command of `referee`.
 *
 * @throws HuntError when the client fails without any failure, sends nothing, or does not do the same in two runs
 */
export async function hunt({ run, sandbox: options, onRun, ...given }: HuntOptions): Promise<HuntResult> {
  const settings = huntSettings(given);
  const { settlement = 'instant', ...others } = options ?? {};
  await using sandbox = await startHere(
    readOptions({
      port: 0,
      logLevel: 'silent',
      rateLimit: 'off',
      seed: settings.seed,
      ...others,
      settlement,
    }),
  );
  const { runHunt } = await import('./trials/hunt/hunt.ts');
  return await runHunt(settings, {
    sandbox,
    settlement,
    wallClock: systemClock(),
    stop: new AbortController().signal,
    client: async (world, signal) => {
      try {
        const reported = await run(world, signal);
        if (reported !== 'failed' && reported !== 'in-doubt')
          return { kind: 'success', isSaid: reported === 'paid' };
        return { kind: 'failure', why: `it reports ${reported}`, isInDoubt: reported === 'in-doubt' };
      } catch (error) {
        return { kind: 'failure', why: error instanceof Error ? error.message : String(error) };
      }
    },
    ...(onRun !== undefined && { onRun }),
  });
}

export { HuntError } from './trials/hunt/options.ts';
export type { HuntFinding, HuntResult, Progress as HuntProgress } from './trials/hunt/hunt.ts';
export type { FieldError as SandboxFieldError } from './contract/errors.ts';
export { NoSandboxError, SandboxError, type ResponseHeaders } from './client/control-client.ts';
export type { EventsOptions, WorldEvent, WorldEvents } from './client/event-stream.ts';
export { connectSandbox, type ConnectOptions, type Sandbox, type WorldOptions } from './client/sandbox.ts';
export {
  ExpectationError,
  UnknownResultError,
  type Expectation,
  type ExpectedRequest,
} from './client/expectation.ts';
export type { WaitOptions } from './client/payout-wait.ts';
export type {
  HeldOptions,
  HeldRequest,
  PayoutInput,
  PayResponse,
  ReleaseOrder,
  UndoOptions,
  World,
  WorldClock,
  WorldSnapshot,
} from './client/controlled-world.ts';
export type {
  Finding,
  RefereeSettingsInput as RefereeSettings,
  WorldReport as ConductReport,
} from './contract/conduct.ts';
export { SettingsError, type SettingsInput } from './settings.ts';
export type {
  ExplainInput as ExplainRequest,
  RequestsQuery,
  RuleRequest,
  ScenarioInput,
  TransactionsQuery,
  VerifyRequest,
} from './contract/control.ts';
export type {
  AdvanceResponse,
  ChangeResponse as Change,
  ClockResponse,
  EntryResponse as Entry,
  ExplainResponse as Explanation,
  JournalEntry,
  MoneyResponse,
  OutcomeResponse,
  RuleResponse,
  ScenarioResponse,
  ScenariosResponse,
  TransactionResponse as Transaction,
  VerifyResponse,
  WalletResponse,
  WorldResponse,
} from './contract/control-responses.ts';
