import { z } from 'zod';
import type { AdvanceResponse, ClockResponse, WorldResponse } from '../contract/control-responses.ts';
import { ClockSpeed, istSecond } from '../contract/times.ts';
import { counted, grouped, rupees } from '../contract/words.ts';
import { action, type Session } from './sandbox-action.ts';
import { flag, text } from './arguments.ts';
import { alignedLines, stateColour, table } from './text-output.ts';

/** `frozen`, `running`, `running 3600 times as fast` */
const speedText = (speed: number): string =>
  speed === 0 ? 'frozen' : speed === 1 ? 'running' : `running ${speed} times as fast`;

const clockText = ({ now, speed }: Pick<ClockResponse, 'now' | 'speed'>): string =>
  `${istSecond(now)} IST, ${speedText(speed)}`;

function nextText({ next_due: next, frozen }: ClockResponse): string {
  if (next === null) return 'nothing is scheduled';
  return `next step of a payout at ${istSecond(next)} IST${frozen ? ', once the clock is advanced' : ''}`;
}

function advanceLines(advanced: AdvanceResponse, { paint }: Session): readonly string[] {
  const { changes } = advanced;
  const rows = changes.map(({ at, client_ref_id: reference, from, to, utr }) => [
    istSecond(at),
    reference,
    from === to ? 'UTR' : { text: to, colour: stateColour(to) },
    utr ?? '',
  ]);
  return [
    `${clockText(advanced)}; ${rows.length === 0 ? 'nothing was due' : `${counted(rows.length, 'step')} applied`}`,
    ...(rows.length === 0 ? [] : table(['at (IST)', 'reference', 'became', 'UTR'], rows, paint)),
  ];
}

const TIME =
  'a duration such as 2h 30m, a time such as 2026-12-01 10:00, or idle: until nothing is scheduled';

const Change = z.union([z.enum(['freeze', 'resume']), z.coerce.number().pipe(ClockSpeed)], {
  error: 'must be freeze, resume or a speed from 0 to 86400',
});

export const clockActions = [
  action({
    name: 'advance',
    summary: 'move the clock; steps that come due are applied',
    effect: 'changes',
    input: { time: text(TIME, 'time').refine((time) => /^(\d|P|idle$)/.test(time), `must be ${TIME}`) },
    words: ['time'],
    run: ({ time }, { world }) => world.clock.advance(time),
    lines: advanceLines,
  }),
  action({
    name: 'clock',
    summary: 'freeze the clock, resume it or set its speed',
    details:
      'While it is frozen, nothing settles until it is advanced. At 3600, an hour passes in each second.',
    effect: 'changes',
    input: { change: Change.meta({ description: 'freeze, resume, or a speed from 0 to 86400' }) },
    words: ['change'],
    run: ({ change }, { world }) =>
      change === 'freeze' || change === 'resume' ? world.clock[change]() : world.clock.speed(change),
    lines: (clock) => [`${clockText(clock)}; ${nextText(clock)}`],
  }),
];

function payoutsText(counts: WorldResponse['transactions'], { paint }: Session): string {
  const states = Object.entries(counts) as [keyof typeof counts, number][];
  const some = states.filter(([, count]) => count > 0);
  if (some.length === 0) return 'none';
  return some.map(([state, count]) => `${grouped(count)} ${paint(state, stateColour(state))}`).join(', ');
}

const sumLine = (title: string, { count, amount }: WorldResponse['at_risk'], what: string) =>
  count === 0 ? [] : [`${title} ${counted(count, 'payout')}, ${rupees(amount)}: ${what}`];

function statusLines(status: WorldResponse, session: Session): readonly string[] {
  const { id, name, balance, opening_balance: opening, transactions, clock } = status;
  const { scenario, invariants, at_risk: atRisk, out_of_date: outOfDate } = status;
  const { paint, keyText } = session;
  const rows = [
    ['Sandbox', session.world.url],
    ['World', `${id}${name === null ? '' : ` (${name})`}, of ${keyText}`],
    ['Clock', `${clockText(clock)}; ${nextText(clock)}`],
    ['Balance', `${rupees(balance)}, of ${rupees(opening)} at the start`],
    ['Scenario', scenario],
    ...(invariants === 'hold' ? [] : [['Broken', `${invariants.join('; ')}: this is a bug in the sandbox`]]),
  ];
  return [
    ...alignedLines(
      rows.map(([title, fact]) => [{ text: title!, colour: 'dim' }, fact!]),
      paint,
    ),
    `${paint('Payouts', 'dim')}   ${payoutsText(transactions, session)}`,
    ...sumLine(`${paint('At risk', 'dim')}  `, atRisk, 'made, but the client was not told'),
    ...sumLine(paint('Out of date', 'dim'), outOfDate, 'final, but the client saw only an earlier state'),
  ];
}

const FILE = text('a file; for an agent, a name that lasts as long as its connection', 'file');

export const worldActions = [
  action({
    name: 'status',
    summary: 'show the clock, balance, payouts and scenario of a world',
    effect: 'reads',
    run: (_input, { world }) => world.summary(),
    lines: statusLines,
  }),
  action({
    name: 'reset',
    summary: 'start again with an empty world',
    details: 'Resets the wallet, payouts, clock, journal, overrides and scenario.',
    effect: 'loses',
    run: (_input, { world }) => world.reset(),
    lines: statusLines,
  }),
  action({
    name: 'undo',
    summary: 'take back the last advance, reset or other change',
    details: 'Undoes what a command, a test or the dashboard did, not what the client did.',
    effect: 'loses',
    input: { force: flag('take back the requests that the client has sent since then, too') },
    async run({ force }, { world }) {
      const action = world.lastAction ?? (await world.summary()).last_action?.action ?? 0; // 0 is refused
      return { undone: await world.undo({ action, force }) };
    },
    lines: ({ undone: { name, at } }) => [`took back the last action: ${name}, at ${istSecond(at)} IST`],
  }),
  action({
    name: 'snapshot save',
    summary: 'save a world, to load again with snapshot load',
    effect: 'changes',
    input: { file: FILE },
    words: ['file'],
    async run({ file }, { world, texts }) {
      await texts.save('snapshot save', file, () => world.snapshot());
      return { file };
    },
    lines: ({ file }) => [`${file} holds the world as it is`],
  }),
  action({
    name: 'snapshot load',
    summary: 'replace a world with a snapshot that was saved',
    effect: 'loses',
    input: { file: FILE },
    words: ['file'],
    run: async ({ file }, { world, texts }) => world.restore(texts.saved('snapshot load', file)),
    lines: statusLines,
  }),
  action({
    name: 'worlds',
    scope: 'sandbox',
    summary: 'list the worlds of the sandbox, the most recently used last',
    details: 'It needs the admin token.',
    effect: 'reads',
    run: (_input, { sandbox }) => sandbox.worlds(),
    lines: (worlds, { paint }) =>
      table(
        ['world', 'name', 'used (IST)', 'payouts', 'balance', 'scenario'],
        worlds.map(({ id, name, used_at: usedAt, transactions, balance, scenario }) => [
          id,
          name ?? '',
          istSecond(usedAt),
          { text: grouped(transactions), isRight: true },
          { text: rupees(balance), isRight: true },
          scenario,
        ]),
        paint,
      ),
  }),
];
