import type { z } from 'zod';
import type {
  AdvanceAnswer,
  ClockAnswer,
  HealthAnswer,
  MoneyAnswer,
  ScenarioAnswer,
  WorldAnswer,
} from '../../contract/control-answers.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import { durationMs } from '../../contract/duration.ts';
import { instantMs } from '../../contract/instant.ts';
import { atOnce } from '../../scenario/scenario-shape.ts';
import { isScenarioFile, readScenario, ScenarioError } from '../../scenario/scenario-file.ts';
import { scenarioSettings } from '../../scenario/scenario-settings.ts';
import { readSettings, SettingsError } from '../../settings.ts';
import { alignedLines, counted, istSecond, rupees, signedRupees, stateColour, table } from './readable.ts';
import { show, type Session } from './world-session.ts';

/** What a command says of the world as a whole, and the commands that change it as a whole. */

const clockText = ({ now, frozen }: Pick<ClockAnswer, 'now' | 'frozen'>): string =>
  `${istSecond(now)} IST, ${frozen ? 'frozen' : 'running'}`;

function nextText({ next_due: next, frozen }: ClockAnswer): string {
  if (next === null) return 'nothing is scheduled';
  return `next step of a payout at ${istSecond(next)} IST${frozen ? ', once the clock is advanced' : ''}`;
}

function payoutsText(counts: WorldAnswer['transactions'], { paint }: Session): string {
  const states = Object.entries(counts) as [keyof typeof counts, number][];
  const some = states.filter(([, count]) => count > 0);
  if (some.length === 0) return 'none';
  return some
    .map(([state, count]) => `${count.toLocaleString('en-IN')} ${paint(state, stateColour(state))}`)
    .join(', ');
}

function worldLines(summary: WorldAnswer, session: Session): readonly string[] {
  const { id, balance, opening_balance: opening, transactions, clock, scenario, invariants } = summary;
  const { paint, keyText } = session;
  const rows = [
    ['World', `${id}, of ${keyText}`],
    ['Clock', `${clockText(clock)}; ${nextText(clock)}`],
    ['Balance', `${rupees(balance)}, of ${rupees(opening)} at the start`],
    ['Scenario', scenario],
    ...(invariants === 'hold' ? [] : [['Broken', `${invariants.join('; ')}: this is a bug of the sandbox`]]),
  ];
  return [
    ...alignedLines(
      rows.map(([name, text]) => [{ text: name!, colour: 'dim' }, text!]),
      paint,
    ),
    `${paint('Payouts', 'dim')}   ${payoutsText(transactions, session)}`,
  ];
}

/** `payout-sandbox status` */
export async function showStatus(session: Session): Promise<void> {
  const { control, world, paint } = session;
  const summary = await world.summary();
  const { version } = await control.get<z.infer<typeof HealthAnswer>>('/health');
  show(session, { url: world.url, version, ...summary }, () => [
    `${paint('Sandbox', 'dim')}   ${world.url}, version ${version}`,
    ...worldLines(summary, session),
  ]);
}

/** `payout-sandbox reset` */
export async function resetWorld(session: Session): Promise<void> {
  const summary = await session.world.reset();
  show(session, summary, () => worldLines(summary, session));
}

/** An amount as it is typed. @throws SettingsError for a text that is none */
export function amountOf(text: string): number {
  const amount = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (amount <= Number.MAX_SAFE_INTEGER) return amount;
  throw new SettingsError(`the amount must be INR such as 1500.50, not ${JSON.stringify(text)}`);
}

/** `payout-sandbox fund AMOUNT` */
export async function fund(session: Session, amount: string): Promise<void> {
  const answer: MoneyAnswer = await session.world.fund(amountOf(amount));
  show(session, answer, () => [
    `${signedRupees(answer.entry.amount)}: the balance is ${rupees(answer.balance)}`,
  ]);
}

/** `payout-sandbox freeze` and `resume` */
export async function setClock(session: Session, move: 'freeze' | 'resume'): Promise<void> {
  const { clock } = session.world;
  const answer: ClockAnswer = await (move === 'freeze' ? clock.freeze() : clock.resume());
  show(session, answer, () => [`${clockText(answer)}; ${nextText(answer)}`]);
}

function moveOf(by: string | undefined, isUntilIdle: boolean) {
  if (isUntilIdle && by !== undefined)
    throw new SettingsError('advance takes a time or --until-idle, not both');
  if (isUntilIdle) return { until: 'idle' } as const;
  if (by !== undefined && durationMs(by) !== undefined) return { by };
  if (by !== undefined && instantMs(by) !== undefined) return { to: by };
  const given = by === undefined ? '' : `, not ${JSON.stringify(by)}`;
  throw new SettingsError(
    `advance takes a duration such as 90s, 2h or 3d, a time such as 2026-12-01T10:00 (IST) or 2026-12-01T04:30:00Z, or --until-idle${given}`,
  );
}

/** `payout-sandbox advance TIME` */
export async function advance(session: Session, by: string | undefined, isUntilIdle: boolean): Promise<void> {
  const answer: AdvanceAnswer = await session.world.clock.advance(moveOf(by, isUntilIdle));
  const { paint } = session;
  show(session, answer, () => {
    const { changes } = answer;
    const rows = changes.map(({ at, client_ref_id: reference, from, to, utr }) => [
      istSecond(at),
      reference,
      from === to ? 'UTR' : { text: to, colour: stateColour(to) },
      utr ?? '',
    ]);
    return [
      `${clockText(answer)}; ${changes.length === 0 ? 'nothing was due' : `${counted(changes.length, 'step')} applied`}`,
      ...(rows.length === 0 ? [] : table(['at (IST)', 'reference', 'became', 'UTR'], rows, paint)),
    ];
  });
}

/** The scenario of a file, as it is written. @throws SettingsError with a line for each problem */
function scenarioIn(file: string): ScenarioInput {
  try {
    const { source } = atOnce(readScenario(file, scenarioSettings(readSettings({}, {}))));
    return source.document as ScenarioInput;
  } catch (error) {
    if (error instanceof ScenarioError) throw new SettingsError(error.lines.join('\n'), { cause: error });
    throw error;
  }
}

/** `payout-sandbox use SCENARIO` @param choice a name or a file; undefined for the active scenario of the server */
export async function chooseScenario(session: Session, choice: string | undefined): Promise<void> {
  const isFile = choice !== undefined && isScenarioFile(choice);
  const answer: ScenarioAnswer = await session.world.use(isFile ? scenarioIn(choice) : (choice ?? null));
  show(session, answer, () => {
    const { name, description, rules } = answer;
    const own = rules.filter(({ from }) => from === 'scenario').length;
    const what = description.replaceAll(/\s+/g, ' ').trim();
    const ofRules = own === 0 ? '' : ` (${counted(own, 'rule')})`;
    return [`${isFile ? choice : name}${what === '' ? '' : `: ${what}`}${ofRules}`];
  });
}
