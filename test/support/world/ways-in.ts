import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connectSandbox, startSandbox, type Sandbox } from '../../../src/index.ts';

/** How a suite starts a sandbox. Every test must pass with each of them. */
interface WayIn {
  readonly name: string;
  /** Starts a sandbox whose clocks are frozen at START. */
  readonly start: () => Promise<Sandbox>;
}

export const START = '2026-01-15T10:30:00.000Z';
const ADMIN_TOKEN = 'the-token-of-the-admin';
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const inProcess: WayIn = {
  name: 'in this process',
  start: () => startSandbox({ clock: START, rateLimit: 'off' }),
};

/** Started as the README says. npm does not forward signals, so the whole process group is killed. */
const npmStart: WayIn = {
  name: 'against a server that npm started',
  async start() {
    const settings = {
      SANDBOX_CLOCK: START,
      SANDBOX_RATE_LIMIT: 'off',
      SANDBOX_ADMIN_TOKEN: ADMIN_TOKEN,
      SANDBOX_PORT: '0',
      PATH: process.env['PATH'],
    };
    const npm = spawn('npm', ['start'], { cwd: ROOT, env: settings, detached: true });
    npm.stdout.setEncoding('utf8');
    let output = '';
    let url: string | undefined;
    while (url === undefined) {
      const [text] = (await once(npm.stdout, 'data')) as [string];
      output += text;
      url = /"url":"([^"]+)"/.exec(output)?.[1];
    }
    npm.stdout.resume();
    const close = async (): Promise<void> => {
      const closed = once(npm, 'close');
      process.kill(-npm.pid!, 'SIGTERM');
      await closed;
    };
    return { ...connectSandbox({ url, adminToken: ADMIN_TOKEN }), close, [Symbol.asyncDispose]: close };
  },
};

/** A sandbox that .ci/black-box has started, from the package or from the image. */
const startedAt = (url: string): WayIn => ({
  name: `against the sandbox at ${url}`,
  start: () => Promise.resolve(connectSandbox({ url, adminToken: ADMIN_TOKEN })),
});

const { SANDBOX_AT } = process.env;

export const WAYS_IN: readonly WayIn[] =
  SANDBOX_AT === undefined ? [inProcess, npmStart] : [startedAt(SANDBOX_AT)];
