import { z } from 'zod';
import { repeatingRule } from '../../client/repeating-rule.ts';
import { RuleRequest } from '../../contract/control.ts';
import type { RuleAnswer } from '../../contract/control-answers.ts';
import { checkedShape, readText, scenarioText } from '../../scenario/scenario-text.ts';
import { SettingsError } from '../../settings.ts';
import { checkRequest } from '../flag-checks.ts';
import { problemsIn, textOfFile } from '../input-files.ts';
import { say } from '../output.ts';
import { counted, table } from './readable.ts';
import { show, type Session } from './world-session.ts';

type Origin = RuleAnswer['from'];
const ORIGINS: readonly Origin[] = ['world', 'scenario', 'magic'];

function originOf(text: string | undefined): Origin | undefined {
  const known = ORIGINS.find((origin) => origin === text);
  if (text === undefined || known !== undefined) return known;
  throw new SettingsError(`--from must be one of ${ORIGINS.join(', ')}, not ${JSON.stringify(text)}`);
}

/** `payout-sandbox rule list`: the rules in the order in which they are tried; those of the magic beneficiaries only if asked for. */
export async function listRules(session: Session, fromText: string | undefined): Promise<void> {
  const from = originOf(fromText);
  const all = await session.world.rules(from);
  const listed = from === undefined ? all.filter((rule) => rule.from !== 'magic') : all;
  const left = all.length - listed.length;
  show(session, listed, () => {
    const rows = listed.map(({ id, matched, taken, description }) => [
      id,
      { text: matched.toLocaleString('en-IN'), isRight: true },
      { text: taken.toLocaleString('en-IN'), isRight: true },
      description.replaceAll(/\s+/g, ' ').trim(),
    ]);
    return [
      ...(rows.length === 0
        ? ['no rules']
        : table(['rule', 'matched', 'applied', 'description'], rows, session.paint)),
      ...(left === 0
        ? []
        : [`and ${counted(left, 'rule')} of the magic beneficiaries: --from magic lists them`]),
    ];
  });
}

const RuleList = z.strictObject({ description: z.string().optional(), rules: z.array(RuleRequest).min(1) });

/** The rules of a file: one rule, or `rules`, as `rule from` prints them. */
function rulesIn(file: string): readonly RuleRequest[] {
  const read = readText(textOfFile('rule add', file));
  const { input } = read;
  const isList = typeof input === 'object' && input !== null && 'rules' in input;
  const { problems } = checkedShape(read, isList ? RuleList : RuleRequest);
  if (problems.length > 0) throw problemsIn(file, problems);
  return isList ? (input.rules as readonly RuleRequest[]) : [input as RuleRequest];
}

/** `payout-sandbox rule add FILE` */
export async function addRules(session: Session, file: string): Promise<void> {
  const added: RuleAnswer[] = [];
  // the last rule first: each goes on top of those before it, so they are tried in the order of the file
  for (const rule of rulesIn(file).toReversed()) added.unshift(await session.world.rule(rule));
  show(session, added, () => added.map(({ id }) => `${id} is on top`));
}

/** `payout-sandbox rule remove NAME` */
export async function removeRules(session: Session, name: string | undefined, isAll: boolean): Promise<void> {
  if ((name === undefined) !== isAll) {
    throw new SettingsError('rule remove takes the name of one rule, or --all');
  }
  await session.world.removeRule(name?.replace(/^world\//, ''));
  const rules = await session.world.rules('world');
  show(session, rules, () => [
    `${name ?? 'every rule'} is removed; ${rules.length === 0 ? 'no rule' : counted(rules.length, 'rule')} on top`,
  ]);
}

/** `payout-sandbox rule from REQUEST`: prints a rule that repeats what a request got, as a scenario. */
export async function printRule({ world, isJson }: Session, request: string): Promise<void> {
  checkRequest('rule from', request);
  const rule = repeatingRule(await world.requests(), request, (reason) => new SettingsError(reason));
  const scenario = { rules: [rule] };
  say(isJson ? JSON.stringify(scenario, null, 2) : scenarioText(scenario).trimEnd());
}
