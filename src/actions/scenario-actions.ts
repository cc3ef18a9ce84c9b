import { SOME_PAYOUT } from '../client/controlled-world.ts';
import type { ScenarioInput } from '../contract/control.ts';
import type {
  ExplainResponse,
  RuleResponse,
  RuleVerdict,
  ScenarioResponse,
  ScenariosResponse,
} from '../contract/control-responses.ts';
import { istSecond } from '../contract/times.ts';
import { RouteName } from '../contract/match.ts';
import { counted, grouped } from '../contract/words.ts';
import type { Paint } from '../referee/reports/summary.ts';
import { SettingsError } from '../settings.ts';
import { action, type Session } from './sandbox-action.ts';
import { document, flag, listDocument, text, wholeNumber } from './arguments.ts';
import { PAYOUT, payoutOf } from './service-actions.ts';
import { oneLine, table } from './text-output.ts';

async function scenarioLines(scenario: ScenarioResponse, { paint }: Session): Promise<readonly string[]> {
  const { scenarioText } = await import('./written-documents.ts');
  const counts = scenario.rules.filter(({ from, matched }) => from !== 'magic' || matched > 0);
  const written = scenarioText(scenario.document as ScenarioInput).trimEnd();
  return [
    titleOf(scenario),
    ...(counts.length === 0 ? [] : ruleTable(counts, paint)),
    '',
    ...written.split('\n'),
  ];
}

function titleOf({ name, description }: ScenarioResponse): string {
  const what = oneLine(description);
  return what === '' ? name : `${name}: ${what}`;
}

const ruleTable = (rules: readonly RuleResponse[], paint: Paint): readonly string[] =>
  table(
    ['rule', 'matched', 'applied', 'description'],
    rules.map(({ id, matched, taken, description }) => [
      id,
      { text: grouped(matched), isRight: true },
      { text: grouped(taken), isRight: true },
      oneLine(description),
    ]),
    paint,
  );

const overridesIn = (rules: readonly RuleResponse[]): string =>
  rules.length === 0 ? 'no override' : counted(rules.length, 'override');

/** Whether it is the name of a scenario, or none, and not a file or the text of one. */
const isName = (given: unknown): given is string | undefined =>
  given === undefined || (typeof given === 'string' && !/[\n:{]|\.(?:ya?ml|json)$/i.test(given));

/** @param otherwise what applies when none is taken */
function verdictLines(title: string, verdicts: readonly RuleVerdict[], otherwise: string): readonly string[] {
  const shown = verdicts.filter(({ id, taken }) => taken || !id.startsWith('magic/')); // fifty, each for an account of its own
  const names = shown.map(({ id }) => id.slice(id.indexOf('/') + 1));
  const width = Math.max(0, ...names.map((name) => name.length));
  const lines = shown.map(
    ({ taken, reason }, at) => `  ${taken ? '→' : ' '} ${names[at]!.padEnd(width)}  ${reason}`,
  );
  return [title, ...lines, ...(shown.some(({ taken }) => taken) ? [] : [`  → ${otherwise}`])];
}

function payoutLine({ payout, note }: ExplainResponse): readonly string[] {
  if (payout === null) return note === null ? [] : [`no payout: ${note}`];
  const steps = payout.timeline.map(({ to, when }) => `${to ?? 'UTR'} ${when}`).join(', ');
  return [`payout: ${steps || 'PENDING for ever'} (planned by ${payout.planned_by})`];
}

function explanationLines(
  route: RouteName,
  reference: string | undefined,
  explanation: ExplainResponse,
): readonly string[] {
  const { attempt, now, rules, outcomes } = explanation;
  const facts = [
    reference === undefined ? route : `${route} ${reference}`,
    ...(attempt === null ? [] : [`attempt ${attempt}`]),
    `${istSecond(now)} IST`,
  ];
  return [
    facts.join(', '),
    ...verdictLines('rules', rules, 'none: the normal response'),
    ...(route === 'initiate' ? verdictLines('outcomes', outcomes, 'none: the settlement decides') : []),
    ...payoutLine(explanation),
  ];
}

export const scenarioActions = [
  action({
    name: 'use',
    summary: "choose a scenario; without a name, the server's",
    details:
      'Overrides stay. Its opening balance applies only to an unused wallet. If its file changes, choose it again.',
    effect: 'changes',
    input: {
      scenario: document('its name, or a scenario as YAML or JSON').meta({ title: 'scenario' }).optional(),
    },
    words: ['scenario'],
    async run({ scenario }, { world, texts }) {
      if (isName(scenario)) return world.use(scenario ?? null);
      const { scenarioIn } = await import('./written-documents.ts');
      const read = texts.read('use', scenario);
      const [, name] = /(?:^|[\\/])([\w.-]{1,64})\.(?:ya?ml|json)$/i.exec(read.name) ?? [];
      return world.use(scenarioIn(read), name === undefined ? {} : { name });
    },
    lines(scenario) {
      const parts = Object.entries({ rule: scenario.rules, outcome: scenario.outcomes }).flatMap(
        ([part, all]) => {
          const own = all.filter(({ from }) => from === 'scenario').length;
          return own === 0 ? [] : counted(own, part);
        },
      );
      return [`${titleOf(scenario)}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`];
    },
  }),
  action({
    name: 'scenario',
    summary: 'show the scenario of a world, or list all scenarios',
    details: 'Shows how often each rule was applied, in order of evaluation, overrides first.',
    effect: 'reads',
    input: { list: flag('list the scenarios of the sandbox instead') },
    run: ({ list }, { world }): Promise<ScenarioResponse | ScenariosResponse> =>
      list ? world.scenarios() : world.scenario(),
    lines: (shown, session) =>
      'scenarios' in shown
        ? table(
            ['name', 'description'],
            shown.scenarios.map(({ name, description }) => [name, oneLine(description)]),
            session.paint,
          )
        : scenarioLines(shown, session),
  }),
  action({
    name: 'rule add',
    summary: 'add overrides to a world: one rule, or `rules` in order of evaluation',
    details:
      'A rule decides what the client gets; the first that matches is applied. It replaces the override with the same name; without a name, the sandbox numbers it. A payout that is made although the client gets a 500: {"match":{"route":"initiate","attempt":1},"effect":{"commit":true,"respond":500}}',
    effect: 'changes',
    input: {
      rules: listDocument(
        'one rule, a list of them or {rules}, as YAML or JSON. name, times, skip, probability, during {from, for}; match: route, attempt, payout, client_ref_id, amount, transfer_mode, beneficiary_ifsc, header …, each a value, a list or {prefix, matches, gt …}; effect: respond {status, code, body}, fault (connection-reset, hang, garbage …), delay, commit, timeline, not_found, stale, limit, hold',
      ),
    },
    words: ['rules'],
    async run({ rules: given }, { world, texts }) {
      const { rulesIn } = await import('./written-documents.ts');
      const added: RuleResponse[] = [];
      // the last rule first: each goes before the former ones, so they are tried in the order of the file
      for (const rule of rulesIn(texts.read('rule add', given)).toReversed()) {
        added.unshift(await world.rule(rule));
      }
      return added;
    },
    lines: (added) => added.map(({ id }) => `added ${id}`),
  }),
  action({
    name: 'rule remove',
    summary: 'remove an override of a world, or all of them',
    effect: 'changes',
    input: { name: text('its name', 'name').optional(), all: flag('all of them') },
    words: ['name'],
    async run({ name, all }, { world, nameOf }) {
      if ((name === undefined) !== all) {
        throw new SettingsError(`rule remove takes the name of one override, or ${nameOf('all')}`);
      }
      await world.removeRule(name?.replace(/^world\//, ''));
      return { removed: name ?? null, rules: await world.rules('world') };
    },
    lines: ({ removed, rules }) => [`${removed ?? 'every override'} is removed; ${overridesIn(rules)}`],
  }),
  action({
    name: 'explain',
    summary: 'say which rule and outcome a request would match now',
    details: 'Also says why the others would not. Nothing is sent or counted.',
    effect: 'reads',
    input: {
      route: RouteName.default('initiate').meta({
        description: 'initiate, status or balance',
        title: 'route',
      }),
      ...PAYOUT,
      txn: text('the txn_id of a status read', 'id').optional(),
      attempt: wholeNumber('which attempt it is [default the next one]').optional(),
    },
    words: ['route'],
    async run({ route, txn, attempt, ...fields }, { world }) {
      const reference = fields.reference ?? (await world.nextReference());
      const parts = {
        initiate: { body: { client_ref_id: reference, ...SOME_PAYOUT, ...payoutOf(fields) } },
        status: { query: txn === undefined ? { client_ref_id: reference } : { txn_id: txn } },
        balance: {},
      };
      return world.explain({
        route,
        ...parts[route],
        ...(attempt !== undefined && { attempt }),
      });
    },
    async lines(explanation, { world }, { route, reference, txn }) {
      const needsOne = route !== 'balance' && txn === undefined;
      const named = reference ?? (needsOne ? await world.nextReference() : undefined);
      return explanationLines(route, named, explanation);
    },
  }),
];
