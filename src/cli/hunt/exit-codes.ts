import { SettingsError } from '../../settings.ts';
import type { Reported } from '../../trials/run-money.ts';

/** What each exit code of a client says of its payouts. Codes that are not in it say that they failed. */
export type ExitCodes = ReadonlyMap<number, Reported>;

export const DEFAULT_EXIT_CODES: ExitCodes = new Map([
  [0, 'paid'],
  [1, 'failed'],
  [75, 'in-doubt'], // for a temporary failure, as mail programs use it
]);

const NAMES: ReadonlySet<string> = new Set(['paid', 'failed', 'in-doubt'] satisfies Reported[]);

/** `paid=0,failed=1,in-doubt=75`: what is not named keeps its default. @throws SettingsError */
export function exitCodesOf(text: string | undefined): ExitCodes {
  const codes = new Map(DEFAULT_EXIT_CODES);
  for (const part of text === undefined ? [] : text.split(',')) {
    const [name = '', code = ''] = part.split('=');
    if (!NAMES.has(name) || !/^\d{1,3}$/.test(code)) {
      throw new SettingsError(`--exit-codes must be like paid=0,failed=1,in-doubt=75, not ${text}`);
    }
    for (const [known, reported] of DEFAULT_EXIT_CODES) if (reported === name) codes.delete(known);
  }
  for (const part of text === undefined ? [] : text.split(',')) {
    const [name, code] = part.split('=');
    codes.set(Number(code), name as Reported);
  }
  return codes;
}
