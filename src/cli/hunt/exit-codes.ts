import { SettingsError } from '../../settings.ts';
import type { Reported } from '../../trials/run-money.ts';

/** What each exit code of a client says of its payouts. Codes that are not in it say that they failed. */
export type ExitCodes = ReadonlyMap<number, Reported>;

const DEFAULT_EXIT_CODES: ExitCodes = new Map([
  [0, 'paid'],
  [1, 'failed'],
  [75, 'in-doubt'], // for a temporary failure, as mail programs use it
]);

/** `paid=0,failed=1,in-doubt=75`: what is not named keeps its default. */
export function exitCodesOf(text: string | undefined): ExitCodes {
  if (text === undefined) return DEFAULT_EXIT_CODES;
  const given = text.split(',').map((part) => part.split('='));
  const names = [...DEFAULT_EXIT_CODES.values()];
  const codes = given.map(([name, code = '']) => {
    const reported = names.find((known) => known === name);
    if (reported !== undefined && /^\d{1,3}$/.test(code)) return [Number(code), reported] as const;
    throw new SettingsError(`--exit-codes must be like paid=0,failed=1,in-doubt=75, not ${text}`);
  });
  const named = new Set(codes.map(([, reported]) => reported));
  return new Map([...[...DEFAULT_EXIT_CODES].filter(([, reported]) => !named.has(reported)), ...codes]);
}
