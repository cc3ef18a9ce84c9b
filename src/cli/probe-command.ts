import { createInterface } from 'node:readline/promises';
import { systemClock } from '../platform/system-clock.ts';
import { dialectText } from '../trials/probe/dialect-text.ts';
import { dryResponses } from '../trials/probe/dry-responses.ts';
import { MOST_INR } from '../trials/probe/pay-level.ts';
import {
  answerText,
  requestText,
  type Beneficiary,
  type ProbeResponse,
  type Send,
} from '../trials/probe/probe-exchange.ts';
import { LEVELS, probe, type Level, type ProbeResult } from '../trials/probe/probe.ts';
import { accountProblem, ifscProblem } from '../payout/rails.ts';
import { SettingsError } from '../settings.ts';
import { visible } from '../actions/words.ts';
import { complain, EXIT_FAILED, EXIT_OK, say } from './output.ts';
import { checkAddress } from './flag-checks.ts';
import { checkWritable, writeText } from './output-files.ts';
import { counted } from '../actions/words.ts';

/** The flags of `probe`. */
export interface ProbeFlags {
  readonly level: string;
  readonly keyEnv?: string;
  readonly write?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly name: string;
  readonly account?: string;
  readonly ifsc?: string;
  readonly upi: string;
}

const PATIENCE_MS = 30_000;
const PAUSE_MS = 2000;

/** The beneficiary at levels that move no money. */
const NOBODY = { account: '000123456789', ifsc: 'SBIN0000001' };

/** Sends requests with `fetch`. A redirect is a response: following it would send the key elsewhere. */
export const overHttp =
  (base: string, key: string): Send =>
  async ({ method, path, body, withKey }) => {
    const response = await fetch(base + path, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: {
        ...(withKey && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      json: jsonOf(text),
    };
  };

function jsonOf(text: string): ProbeResponse['json'] {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What is not the dialect goes to standard error, so that `probe URL > real.yaml` writes a file that can be used. */
const tell = (line: string): void => void process.stderr.write(`${visible(line, process.stderr.isTTY)}\n`);

/** Lists every request that a probe of this level may send. */
async function listRequests(level: Level, beneficiary: Beneficiary): Promise<number> {
  const pause = () => Promise.resolve();
  say(`level ${level} would send at most:`);
  const listed = new Set<string>();
  await probe({
    level,
    send: dryResponses(),
    runId: 'RUN',
    beneficiary,
    pause,
    asked: (request) => {
      const { body, why } = request;
      const line = `${requestText(request)}  ${why}`;
      if (listed.has(line)) return;
      listed.add(line);
      say(`  ${line}`);
      if (body !== undefined) say(`      ${JSON.stringify(body)}`);
    },
  });
  say('Amounts above the balance are shown for a balance of ₹100. Nothing was sent.');
  return EXIT_OK;
}

async function isAgreed(url: string, { account, ifsc }: Beneficiary): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(
      `Level pay makes real payouts at ${url}: at most ₹${MOST_INR} to account ${account} (${ifsc}). Go on? [y/N] `,
    );
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

function show({ findings, payouts, requests, stopped }: ProbeResult): void {
  const { all } = findings;
  const learned = all.filter(([, { value }]) => value !== null).length;
  const moved = payouts.reduce((sum, { amount }) => sum + amount, 0);
  tell('');
  if (stopped !== null) tell(`stopped: ${stopped}`);
  tell(`${learned} of ${all.length} rows learned with ${counted(requests, 'request')}; ₹${moved} moved`);
  for (const { reference, txnId, amount } of payouts) tell(`  ₹${amount} ${reference} ${txnId}`);
}

/** `payout-sandbox probe`: learns the dialect of a service. @returns the exit code */
export async function probeCommand(
  url: string,
  flags: ProbeFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const { keyEnv, write, dryRun, yes, name, upi } = flags;
  const level = LEVELS.find((known) => known === flags.level);
  if (level === undefined) return complain(`--level must be one of ${LEVELS.join(', ')}, not ${flags.level}`);
  const base = url.replace(/\/+$/, '');
  checkAddress('the address', base);
  const { account = NOBODY.account, ifsc = NOBODY.ifsc } = flags;
  const problems = { '--account': accountProblem(account), '--ifsc': ifscProblem(ifsc) };
  for (const [flag, problem] of Object.entries(problems)) {
    if (problem !== undefined) return complain(`${flag} ${problem}`);
  }
  const beneficiary = { name, account, ifsc, upi };
  if (dryRun) return listRequests(level, beneficiary);
  if (keyEnv === undefined) return complain('--key-env must name the variable that has the API key');
  const key = environment[keyEnv];
  if (!key) return complain(`--key-env: the variable ${keyEnv} is not set`);
  if (level === 'pay' && (flags.account === undefined || flags.ifsc === undefined)) {
    return complain('--level pay makes payouts: --account and --ifsc must name who gets them');
  }
  if (write !== undefined) checkWritable('--write', write);
  if (level === 'pay' && !yes) {
    if (!process.stdin.isTTY) return complain('--level pay makes payouts: confirm with --yes');
    if (!(await isAgreed(base, beneficiary))) return complain('nothing was sent');
  }

  const clock = systemClock();
  const runId = clock.nowMs().toString(36);
  const result = await probe({
    level,
    send: overHttp(base, key),
    runId,
    beneficiary,
    pause: () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)),
    asked: (request, answer) => tell(`${requestText(request)}\n  ${answerText(answer)}`),
  });
  show(result);
  const isEmpty = result.findings.all.every(([, { value }]) => value === null);
  if (isEmpty) return EXIT_FAILED;
  const at = new Date(clock.nowMs()).toISOString().slice(0, 10);
  const text = dialectText(result.findings, `What a probe of level ${level} saw at ${base} on ${at}`);
  if (write === undefined) say(text.trimEnd());
  else {
    try {
      writeText('--write', write, text);
    } catch (error) {
      if (error instanceof SettingsError) say(text.trimEnd()); // it may have cost money to learn
      throw error;
    }
    tell(`wrote ${write}: payout-sandbox serve --dialect ${write}`);
  }
  return result.stopped === null ? EXIT_OK : EXIT_FAILED;
}
