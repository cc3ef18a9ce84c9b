import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import { commandLine } from '../../src/cli/command-line.ts';
import { welcome } from '../../src/cli/serve.ts';
import { logOptions } from '../../src/platform/logging.ts';
import { systemClock } from '../../src/platform/system-clock.ts';
import { startServer } from '../../src/server.ts';
import { readSettings } from '../../src/settings.ts';
import { PAYOUT } from './sandbox.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const MAIN = fileURLToPath(new URL('../../dist/main.cjs', import.meta.url));

type Environment = Readonly<Record<string, string>>;

/** One line of the log. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Kills a process, and waits until it has ended: until then it may write to a folder that the test removes. */
async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** A command in its own process, which inherits only PATH. It is killed when the test ends. */
export class Program {
  readonly child: ChildProcess;
  /** Its exit code, signal and output, once it has ended. */
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';

  /** @param output gets what it writes to standard output, which is kept otherwise */
  constructor(
    command: string,
    args: readonly string[],
    environment: Environment,
    folder = ROOT,
    hasChannel = false,
    output = (text: string): void => void (this.#stdout += text),
  ) {
    const env = { PATH: process.env['PATH'], SANDBOX_PORT: '0', ...environment };
    const stdio = ['pipe', 'pipe', 'pipe', ...(hasChannel ? (['ipc'] as const) : [])] as const;
    this.child = spawn(command, args, { cwd: folder, env, stdio: [...stdio] });
    onTestFinished(() => killed(this.child));
    this.child.stdout!.setEncoding('utf8').on('data', output);
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.child.once('exit', () => this.child.stdout!.resume()); // a test may have paused it
    this.ended = once(this.child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout: this.#stdout,
      stderr: this.#stderr,
    }));
  }

  /** The first match in its output, as soon as there is one. */
  async says(pattern: RegExp): Promise<string> {
    let hasEnded = false;
    for (;;) {
      const [match] = pattern.exec(this.#stdout) ?? [];
      if (match !== undefined) return match;
      if (hasEnded) throw new Error(`its output never matched ${pattern}: ${this.#stdout}${this.#stderr}`);
      const ended = this.ended.then(() => (hasEnded = true));
      await Promise.race([once(this.child.stdout!, 'data'), ended]);
    }
  }

  /** Sends a signal, and waits until the process has ended. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** Runs the program until it ends by itself. @param folder where it works; by default that of the project */
export const runProgram = (
  args: readonly string[],
  environment: Environment = {},
  folder?: string,
): Promise<Ended> => new Program(process.execPath, [MAIN, ...args], environment, folder).ended;

/**
 * The same in this process, which takes a tenth of the time of a start. For one command at a time, and not for `serve`, which
 * ends with a signal. That a process ends with this exit code, some tests show with `runProgram`.
 */
export async function runInProcess(args: readonly string[], environment: Environment = {}): Promise<Ended> {
  const outputs = ['stdout', 'stderr'] as const;
  const written = { stdout: '', stderr: '' };
  const spies = outputs.map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  try {
    const code = await commandLine(args, { SANDBOX_PORT: '0', ...environment });
    return { code, signal: null, ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Starts the program on a free port, and waits until it is ready. */
export async function startProgram(environment: Environment = {}, args: readonly string[] = [], main = MAIN) {
  const program = new Program(process.execPath, [main, ...args], environment);
  const [ready] = logLines(await program.says(/.*"msg":"payout sandbox ready"\}\n/)) as [LogLine];
  return { program, ready, url: String(ready['url']) };
}

/**
 * Serves in this process what the program serves with these variables, with its log: a tenth of the time of a start. What only
 * a process has, such as signals, exit codes and the pipe of the log, needs `startProgram`.
 */
export async function serveInProcess(environment: Environment = {}, isTerminal = false, isVerbose = false) {
  const settings = readSettings({}, { SANDBOX_PORT: '0', ...environment });
  let written = '';
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => done(void (written += chunk.toString())),
  });
  const log = pino(logOptions(settings), stream);
  const server = await startServer(settings, systemClock(), log);
  let said = '';
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((said += String(text))));
  welcome(server, settings, log, isTerminal, isVerbose);
  spy.mockRestore();
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= server.close());
  onTestFinished(close);
  /** Stops serving. @returns the log */
  const stop = async (): Promise<string> => {
    await close();
    return written;
  };
  const ready = isTerminal ? {} : logLines(written || said).at(-1)!;
  return { url: server.url, ready, said, stop, log: () => written };
}

/** What a command of a page prints, run like by a user who pastes it, with the sandbox at `url` in the place of that at port 3000. */
export async function paste(shell: string, url: string, environment: Environment = {}): Promise<string> {
  const env = { PATH: process.env['PATH'], ...environment };
  const command = shell.replaceAll('http://127.0.0.1:3000', url);
  return (await promisify(execFile)('sh', ['-c', command], { env })).stdout;
}

/** `script` of util-linux runs a command on a terminal. Other versions have other flags. */
export const hasTerminal =
  process.platform === 'linux' && spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

/** Runs the program on a terminal. */
export const onTerminal = (args: readonly string[], environment: Environment = {}): Program => {
  const command = `exec "${process.execPath}" "${MAIN}" ${args.join(' ')}`;
  return new Program('script', ['-qec', command, '/dev/null'], environment);
};

/** Starts the program on a terminal, and waits until it is ready. What is written to `child.stdin` is typed. */
export async function startOnTerminal(environment: Environment = {}) {
  const program = onTerminal([], { NO_COLOR: '1', ...environment });
  return { program, url: await program.says(/http:\/\/[\d.:]+(?=\r\n)/) }; // the whole line, since a terminal may split it
}

/** The log lines of an output. Fails for an output that has anything else in it. */
export const logLines = (output: string): readonly LogLine[] =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine);

/** The lines with this message. */
export const linesOf = (output: string, message: string): readonly LogLine[] =>
  logLines(output).filter(({ msg }) => msg === message);

/** Sends one request with a key, and waits for the whole response. */
export async function ask(url: string, key: string, body?: Record<string, unknown>): Promise<Response> {
  const authorization = `Bearer ${key}`;
  const response = await fetch(
    url,
    body === undefined
      ? { headers: { authorization } }
      : {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify({ ...PAYOUT, ...body }),
        },
  );
  await response.clone().text();
  return response;
}

/** Resolves once connections to this address are refused. */
export async function nobodyListens(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  for (;;) {
    const socket = connect(Number(port), hostname);
    try {
      await once(socket, 'connect');
    } catch {
      return;
    } finally {
      socket.destroy();
    }
  }
}
