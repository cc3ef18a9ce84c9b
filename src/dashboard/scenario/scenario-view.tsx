import type { ComponentChildren } from 'preact';
import type { RuleResponse } from '../../contract/control-responses.ts';
import { magicBeneficiaries } from '../actions/failure-kinds.ts';
import { backToNormal, chooseScenario, removeRule } from '../actions/rule-orders.ts';
import { useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { grouped } from '../../contract/words.ts';
import { placeOf } from './rule-link.tsx';
import { EditButton, ScenarioEditor } from './scenario-editor.tsx';

/** A rule or an outcome as it is written, on one line: `match transfer_mode NEFT, timeline SUCCESS after 40m`. */
const written = (one: unknown): string =>
  JSON.stringify(one, (key, value: unknown) => (key === 'name' || key === 'description' ? undefined : value))
    .replaceAll(/"to":"(\w+)","(after|at)":/g, '$1 $2 ')
    .replaceAll('":', ' ')
    .replaceAll(/["{}[\]]/g, '')
    .replaceAll(',', ', ');

interface LineProps {
  readonly id: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}

/** A rule or an outcome. */
const Line = ({ id, text, children }: LineProps) => (
  <li id={placeOf(id)} tabIndex={-1}>
    <span>
      <code>{id}</code>
      <span class="note">{text}</span>
    </span>
    {children}
  </li>
);

interface SectionProps {
  readonly title: string;
  readonly children: readonly ComponentChildren[];
}

/** Rules, outcomes or scenarios under their title; nothing if there are none. */
const Section = ({ title, children }: SectionProps) =>
  children.length === 0 ? null : (
    <div class="block">
      <h3>{title}</h3>
      <ul class="rows" aria-label={title}>
        {children}
      </ul>
    </div>
  );

const ruleLine = (rule: RuleResponse, button?: ComponentChildren) => (
  <Line key={rule.id} id={rule.id} text={rule.description || written(rule.rule)}>
    <span class="note number">{rule.taken === 0 ? 'waiting' : `used ${grouped(rule.taken)}×`}</span>
    {button}
  </Line>
);

/** How the world behaves: its scenario, and the overrides. */
export function ScenarioView() {
  const live = useLive();
  const scenario = live.scenario.value;
  const { scenarios = [] } = live.scenarios.value ?? {};
  const { rules = [], outcomes = [], name = '…', description = '', chosen = false } = scenario ?? {};
  const top = rules.filter(({ from }) => from === 'world');
  const own = rules.filter(({ from }) => from === 'scenario');
  const ownOutcomes = outcomes.filter(({ from }) => from === 'scenario');
  const isNormal = top.length === 0 && !chosen;
  return (
    <section class="view scrolling" aria-labelledby="scenario-title">
      <header class="view-head">
        <h2 id="scenario-title">Scenario</h2>
        <p class="note" role="status">
          {scenario !== null && `${name}, ${chosen ? 'chosen for this world' : 'active on the server'}`}
        </p>
        <Button off={isNormal ? 'Everything is normal' : null} act={() => backToNormal(live)}>
          Back to normal
        </Button>
        <EditButton />
      </header>
      {description !== '' && <p class="note">{description}</p>}
      <ScenarioEditor />
      <Section title="Added rules">
        {top.map((rule) =>
          ruleLine(
            rule,
            <Button kind="small" act={() => removeRule(live, rule)}>
              Remove<span class="unseen"> {rule.name}</span>
            </Button>,
          ),
        )}
      </Section>
      <Section title={`Rules of ${name}`}>{own.map((rule) => ruleLine(rule))}</Section>
      <Section title={`Outcomes of ${name}`}>
        {ownOutcomes.map(({ id, description, outcome }) => (
          <Line key={id} id={id} text={description || written(outcome)} />
        ))}
      </Section>
      <Section title="Magic accounts">
        {magicBeneficiaries(scenario).map(({ id, account, text }) => (
          <Line key={id} id={id} text={`${account}: ${text}`} />
        ))}
      </Section>
      <Section title="All scenarios">
        {scenarios.map((one) => (
          <Line key={one.name} id={one.name} text={one.description}>
            <Button
              kind="small"
              off={one.name === name ? 'Already in use' : null}
              act={() => chooseScenario(live, one.name)}
            >
              Use<span class="unseen"> {one.name}</span>
            </Button>
          </Line>
        ))}
      </Section>
    </section>
  );
}
