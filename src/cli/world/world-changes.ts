import type {
  AdvanceAnswer,
  ClockAnswer,
  MoneyAnswer,
  ScenarioAnswer,
} from '../../contract/control-answers.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import { durationMs } from '../../contract/duration.ts';
import { instantMs } from '../../contract/instant.ts';
import { atOnce } from '../../scenario/scenario-shape.ts';
import { isScenarioFile, readScenario } from '../../scenario/scenario-file.ts';
import { scenarioSettings } from '../../scenario/scenario-settings.ts';
import { readSettings, SettingsError } from '../../settings.ts';
import { counted, istSecond, rupees, signedRupees, stateColour, table } from './readable.ts';
import { show, type Session } from './world-session.ts';
import { clockText, nextText } from './world-status.ts';

/** The commands that change a world as a whole: its money, its clock, its scenario. */

/** An amount as it is typed. @throws SettingsError for any other text */
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

/** The scenario of a file, as it is written. @throws ScenarioError */
function scenarioIn(file: string): ScenarioInput {
  const { source } = atOnce(readScenario(file, scenarioSettings(readSettings({}, {}))));
  return source.document as ScenarioInput;
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
