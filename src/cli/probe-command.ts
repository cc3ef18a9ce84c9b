import { createInterface } from 'node:readline/promises';
import { systemClock } from '../platform/system-clock.ts';
import { dryResponses } from '../trials/probe/dry-responses.ts';
import { dialectText } from '../trials/probe/learned-dialect.ts';
import { MOST_INR } from '../trials/probe/pay-level.ts';
import {
  responseText,
  requestText,
  type Beneficiary,
  type ProbeResponse,
  type Send,
} from '../trials/probe/probe-exchange.ts';
import { probe, type Level, type ProbeResult } from '../trials/probe/probe.ts';
import { accountProblem, ifscProblem } from '../payout/rails.ts';
import { SettingsError } from '../settings.ts';
import { counted, timeZone, visible } from '../actions/words.ts';
import { iso } from '../contract/instant.ts';
import { EXIT_FAILED, EXIT_OK, say } from './output.ts';
import { checkAddress } from './flag-checks.ts';
import { checkWritable, writeText } from './named-files.ts';

export interface ProbeFlags {
  readonly level: Level;
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
  async ({ method, path, body, isKeyless }) => {
    const response = await fetch(base + path, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: {
        ...(!isKeyless && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    const text = await response.text();
    return { status, headers: Object.fromEntries(headers), text, json: jsonOf(text) };
  };

function jsonOf(text: string): ProbeResponse['json'] {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What is not the dialect goes to standard error, so that `probe URL > real.yaml` writes a file that can be used. */
const note = (line: string): void => void process.stderr.write(`${visible(line, process.stderr.isTTY)}\n`);

async function listRequests(level: Level, beneficiary: Beneficiary): Promise<number> {
  say(`level ${level} would send at most:`);
  const listed = new Set<string>();
  await probe({
    level,
    send: dryResponses(),
    runId: 'RUN',
    beneficiary,
    pause: () => Promise.resolve(),
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
    const typed = await terminal.question(
      `Level pay makes real payouts at ${url}: at most ₹${MOST_INR} to account ${account} (${ifsc}). Go on? [y/N] `,
    );
    return /^y(es)?$/i.test(typed.trim());
  } finally {
    terminal.close();
  }
}

function show({ learned, payouts, requests, stopped }: ProbeResult): void {
  const { all } = learned;
  const known = all.filter(([, { value }]) => value !== null).length;
  const total = (made: boolean): number =>
    payouts.reduce((sum, { amount, isMade }) => (isMade === made ? sum + amount : sum), 0);
  const unclear = total(false);
  note('');
  if (stopped !== null) note(`stopped: ${stopped}`);
  const rows = `${known} of ${all.length} rows learned with ${counted(requests, 'request')}`;
  note(`${rows}; ₹${total(true)} moved${unclear === 0 ? '' : `, and ₹${unclear} more may have moved`}`);
  for (const { reference, txnId, amount, isMade, shown } of payouts) {
    const became = isMade ? (txnId ?? '?') : ` unknown: ${shown}: look at the status of this reference`;
    note(`  ₹${amount} ${reference} ${became}`);
  }
}

function orderOf(url: string, flags: ProbeFlags) {
  const { level, name, upi, account = NOBODY.account, ifsc = NOBODY.ifsc } = flags;
  const base = url.replace(/\/+$/, '');
  checkAddress('the address', base);
  for (const [flag, problem] of [
    ['--account', accountProblem(account, false)],
    ['--ifsc', ifscProblem(ifsc)],
  ]) {
    if (problem !== undefined) throw new SettingsError(`${flag} ${problem}`);
  }
  return { level, base, beneficiary: { name, account, ifsc, upi } };
}

function keyOf({ keyEnv }: ProbeFlags, environment: NodeJS.ProcessEnv): string {
  if (keyEnv === undefined) throw new SettingsError('--key-env must name the variable that has the API key');
  const key = environment[keyEnv];
  if (!key) throw new SettingsError(`--key-env: the variable ${keyEnv} is not set`);
  return key;
}

/** Level pay moves money: it needs to know to whom, and that somebody agrees. */
async function checkMayPay(base: string, beneficiary: Beneficiary, flags: ProbeFlags): Promise<void> {
  if (flags.account === undefined || flags.ifsc === undefined) {
    throw new SettingsError('--level pay makes payouts: --account and --ifsc must name who gets them');
  }
  if (flags.yes) return;
  if (!process.stdin.isTTY) throw new SettingsError('--level pay makes payouts: confirm with --yes');
  if (!(await isAgreed(base, beneficiary))) throw new SettingsError('nothing was sent');
}

function writeDialect(text: string, file: string | undefined): void {
  if (file === undefined) return say(text.trimEnd());
  try {
    writeText('--write', file, text);
  } catch (error) {
    say(text.trimEnd()); // it may have cost money to learn
    throw error;
  }
  note(`wrote ${file}: payout-sandbox serve --dialect ${file}`);
}

export async function probeCommand(
  url: string,
  flags: ProbeFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const { level, base, beneficiary } = orderOf(url, flags);
  if (flags.dryRun) return listRequests(level, beneficiary);
  const key = keyOf(flags, environment);
  if (flags.write !== undefined) checkWritable('--write', flags.write);
  if (level === 'pay') await checkMayPay(base, beneficiary, flags);

  const clock = systemClock();
  const result = await probe({
    level,
    send: overHttp(base, key),
    runId: clock.nowMs().toString(36),
    beneficiary,
    pause: () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)),
    asked: (request, response) => note(`${requestText(request)}\n  ${responseText(response)}`),
  });
  show(result);
  if (result.learned.all.every(([, { value }]) => value === null)) return EXIT_FAILED;
  const zone = timeZone();
  const at = zone.second(iso(clock.nowMs()));
  const description = `What a probe of level ${level} saw at ${base}, ${at} ${zone.name}`;
  writeDialect(dialectText(result.learned, description), flags.write);
  return result.stopped === null ? EXIT_OK : EXIT_FAILED;
}
