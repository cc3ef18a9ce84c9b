import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ChooseRequest, RuleRequest, RulesQuery, ScenarioRequest } from '../../contract/control.ts';
import { RuleAnswer, RulesAnswer, ScenarioAnswer, ScenariosAnswer } from '../../contract/control-answers.ts';
import { Refusal } from '../../contract/errors.ts';
import type { Suggest } from '../../contract/shape-issues.ts';
import type { Rule } from '../../scenario/rule.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { World } from '../../log/world.ts';
import { checked, wrongRequest } from './checked-request.ts';
import { ruleAnswer, scenarioAnswer } from './world-answers.ts';

/** The scenarios that a world can choose. */
export interface Scenarios {
  readonly active: Scenario;
  readonly names: readonly string[];
  /** All that there are; those that nobody used so far are read for it. */
  readonly all: readonly Scenario[];
  get(name: string): Scenario | undefined;
  /** Makes a scenario of a document. @throws Refusal INVALID_REQUEST with all that is wrong with it */
  compile(document: unknown): Scenario;
  /** Makes a rule `world/NAME` to put over these. @throws Refusal INVALID_REQUEST with what is wrong with it */
  compileRule(document: { readonly name: string }, overrides: readonly Rule[]): Rule;
}

interface Options {
  readonly scenarios: Scenarios;
  readonly suggest: Suggest;
}

/** How many rules may stand on top of one world. */
const MAX_RULES = 100;

const isNaming = (body: unknown): boolean => typeof body === 'object' && body !== null && 'use' in body;

function freeName(onTop: readonly Rule[]): string {
  const taken = new Set(onTop.map(({ id }) => id));
  for (let nth = 1; ; nth += 1) if (!taken.has(`world/rule-${nth}`)) return `rule-${nth}`;
}

function noScenario(): Refusal {
  const message = 'body must be {"use":"NAME"} or a whole scenario';
  return wrongRequest([{ field: 'body', message }]);
}

const noRule = (name: string, { behaviour }: World): Refusal => {
  const names = behaviour.onTop.map(({ id }) => id.slice(id.indexOf('/') + 1));
  const there = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
  return new Refusal('RULE_NOT_FOUND', {
    message: `No rule ${name} was put on top of this world: ${there}. Rules of the scenario stay with it`,
  });
};

/** How a world behaves: its scenario, and the rules on top of it. */
export const scenarioRoutes: FastifyPluginAsyncZod<Options> = async (app, { scenarios, suggest }) => {
  const named = (name: string): Scenario => {
    const scenario = scenarios.get(name);
    if (scenario !== undefined) return scenario;
    const { names } = scenarios;
    throw new Refusal('SCENARIO_NOT_FOUND', {
      message: `There is no scenario ${name}${suggest(name, names)}: there are ${names.join(', ')}`,
    });
  };

  app.get(
    '/scenarios',
    {
      schema: {
        operationId: 'listScenarios',
        summary: 'The scenarios to choose from',
        tag: 'Scenario',
        response: { 200: ScenariosAnswer },
      },
    },
    () => ({
      in_force: scenarios.active.name,
      scenarios: scenarios.all.map(({ name, description }) => ({ name, description })),
    }),
  );

  app.get(
    '/scenario',
    {
      schema: {
        operationId: 'getScenario',
        summary: 'The scenario of this world, with its rules',
        tag: 'Scenario',
        response: { 200: ScenarioAnswer },
      },
    },
    ({ world }) => scenarioAnswer(world),
  );

  app.put(
    '/scenario',
    {
      schema: {
        operationId: 'chooseScenario',
        summary: 'Choose a scenario, or send one',
        tag: 'Scenario',
        errors: ['SCENARIO_NOT_FOUND'],
        requestBody: ScenarioRequest,
        response: { 200: ScenarioAnswer },
      },
    },
    async ({ body, world }) => {
      if (isNaming(body)) {
        const { use } = checked(ChooseRequest, body, 'body', suggest);
        await world.choose(use === null ? null : named(use));
      } else {
        if (body === undefined || body === null) throw noScenario(); // an empty file would be a scenario
        await world.choose(scenarios.compile(body));
      }
      return scenarioAnswer(world);
    },
  );

  app.delete(
    '/scenario',
    {
      schema: {
        operationId: 'leaveScenario',
        summary: 'Back to the scenario in force',
        tag: 'Scenario',
        response: { 200: ScenarioAnswer },
      },
    },
    async ({ world }) => {
      await world.choose(null);
      return scenarioAnswer(world);
    },
  );

  app.get(
    '/rules',
    {
      schema: {
        operationId: 'listRules',
        summary: 'The rules, in the order in which they are asked',
        tag: 'Scenario',
        querystring: RulesQuery,
        response: { 200: RulesAnswer },
      },
    },
    ({ query, world }) => {
      const rules = world.scenario.rules.map((rule) => ruleAnswer(rule, world));
      return { rules: rules.filter(({ from }) => query.from === undefined || from === query.from) };
    },
  );

  app.post(
    '/rules',
    {
      schema: {
        operationId: 'putRule',
        summary: 'Put a rule on top',
        tag: 'Scenario',
        errors: ['TOO_MANY_RULES'],
        requestBody: RuleRequest,
        response: { 201: RuleAnswer },
      },
    },
    ({ body, world }, reply) => {
      const { behaviour } = world;
      checked(RuleRequest, body ?? undefined, 'body', suggest);
      const rule = scenarios.compileRule(
        { name: freeName(behaviour.onTop), ...(body as object) },
        behaviour.onTop,
      );
      const others = behaviour.onTop.filter(({ id }) => id !== rule.id);
      if (others.length >= MAX_RULES) {
        throw new Refusal('TOO_MANY_RULES', {
          message: `A world takes ${MAX_RULES} rules on top: remove some with DELETE /_sandbox/rules/NAME`,
        });
      }
      behaviour.put(rule);
      world.events.publish('scenario', () => ({ scenario: world.scenario.name, rule: rule.id }));
      void reply.code(201);
      return ruleAnswer(rule, world);
    },
  );

  app.delete(
    '/rules',
    {
      schema: {
        operationId: 'removeRules',
        summary: 'Take away all rules that were put on top',
        tag: 'Scenario',
        response: { 200: RulesAnswer },
      },
    },
    ({ world }) => {
      for (const { id } of world.behaviour.onTop) world.behaviour.remove(id);
      world.events.publish('scenario', () => ({ scenario: world.scenario.name }));
      return { rules: world.scenario.rules.map((rule) => ruleAnswer(rule, world)) };
    },
  );

  app.delete(
    '/rules/:name',
    {
      schema: {
        operationId: 'removeRule',
        summary: 'Take one of them away',
        tag: 'Scenario',
        errors: ['RULE_NOT_FOUND'],
        params: z.object({ name: z.string().meta({ description: 'The name of the rule' }) }),
        response: { 200: RulesAnswer },
      },
    },
    ({ params: { name }, world }) => {
      if (!world.behaviour.remove(`world/${name}`)) throw noRule(name, world);
      world.events.publish('scenario', () => ({ scenario: world.scenario.name }));
      return { rules: world.scenario.rules.map((rule) => ruleAnswer(rule, world)) };
    },
  );
};
