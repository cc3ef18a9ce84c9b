import { RefereeSettings, type Intent } from '../contract/conduct.ts';
import { linearCapture, MAX_PATTERN_TEXT_LENGTH } from '../scenario/pattern.ts';
import type { Call } from './call.ts';
import { inSteps, type Steps } from '../world/steps.ts';

/** Which references belong to one intended payout. */
export interface Intents {
  /** True when the client's owner declared it; false when it is a guess from identical bodies. */
  readonly isDeclared: boolean;
  /** Whether it is declared by a field that separate payouts may share, such as an account. */
  readonly isByField: boolean;
  /** The intended payout of an initiate; null when it is not known. */
  readonly of: (call: Call) => string | null;
  /** The same of a payout in the ledger, which does not have its remarks. */
  readonly ofPayout: (payout: Fields) => string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** The settings of the referee, with a pattern of the intent that can be used. */
export const CheckedSettings = RefereeSettings.extend({
  intent: RefereeSettings.shape.intent.superRefine((intent, context) => {
    const pattern = typeof intent === 'object' ? Object.values(intent)[0] : undefined;
    const capture = pattern === undefined ? null : linearCapture(pattern);
    if (capture === null || !('error' in capture)) return;
    const message = `must be a regular expression with one group, such as ^(order-[0-9]+): it ${capture.error}`;
    context.addIssue({ code: 'custom', message, input: intent });
  }),
}).meta(RefereeSettings.meta()!);

/** The settings that a verdict depends on, in words: `intent client_ref_id=^order-(\\d+)`; null for none. */
export function settingsText({ intent = {}, expect, off = {}, limits }: RefereeSettings): string | null {
  const intents =
    typeof intent === 'string' ? [intent] : Object.entries(intent).map((pair) => pair.join('='));
  const parts = intents.map((one) => `intent ${one}`);
  if (expect !== undefined) parts.push(`a table of expected payouts (${expect.length})`);
  if (Object.keys(off).length > 0) parts.push(`checks that are off (${Object.keys(off).length})`);
  if (limits !== undefined) parts.push('limits');
  return parts.length === 0 ? null : parts.join(', ');
}

/** Reads which intended payout the fields of an initiate, or of a payout, belong to. */
export function fieldReader(intent: Intent): (fields: Fields) => string | null {
  const textOf = (fields: Fields, field: string): string | null => {
    const value = fields[field];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  };
  if (typeof intent === 'string') return (fields) => textOf(fields, intent);
  const [[field, pattern]] = Object.entries(intent) as [[string, string]];
  const capture = linearCapture(pattern);
  return (fields) =>
    'error' in capture ? null : capture.find((textOf(fields, field) ?? '').slice(0, MAX_PATTERN_TEXT_LENGTH));
}

/** The body of an initiate without its reference. */
export const withoutReference = ({ client_ref_id: _reference, ...others }: Fields): string =>
  JSON.stringify(Object.entries(others).toSorted(([a], [b]) => (a < b ? -1 : 1)));

export function* intentsOf(initiates: readonly Call[], intent: Intent | undefined): Steps<Intents> {
  const isDeclared = intent !== undefined;
  const field = typeof intent === 'object' ? Object.keys(intent)[0] : intent;
  const isByField = isDeclared && field !== 'client_ref_id' && field !== 'remarks';
  const read = isDeclared ? fieldReader(intent) : (fields: Fields) => withoutReference(fields);
  const known = new Map(yield* inSteps(initiates, (call) => [call, read(call.body)] as const));
  return {
    isDeclared,
    isByField,
    of: (call) => known.get(call) ?? null,
    ofPayout: isDeclared ? read : () => null,
  };
}
