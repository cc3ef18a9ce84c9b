import { useState } from 'preact/hooks';
import type { OutcomeResponse, RuleResponse } from '../../contract/control-responses.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import { backToNormal, chooseScenario, removeRule } from '../control-bar/rule-orders.ts';
import { useAction, useLive, type Said } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { grouped } from '../../contract/words.ts';
import { Refusal } from '../ui/marks.tsx';
import { EditorDialog } from './editor-dialog.tsx';
import { putRules, rulesDocument } from './edited-rules.ts';
import { outcomeText } from './outcome-words.ts';
import { checkScenario } from './text-check.ts';
import css from './scenario.module.css';

interface RuleProps {
  readonly rule: RuleResponse;
  readonly children?: preact.ComponentChildren;
}

const RuleLine = ({ rule: { id, description, matched, taken }, children }: RuleProps) => (
  <li>
    <span>
      <code>{id}</code>
      {description !== '' && <span class="note">{description}</span>}
    </span>
    <span class="note number" title={`matched ${matched}, applied ${taken}`}>
      {taken === 0 ? 'unused' : `used ${grouped(taken)}×`}
    </span>
    {children}
  </li>
);

const OutcomeLine = ({ outcome: { id, description, outcome } }: { readonly outcome: OutcomeResponse }) => (
  <li>
    <span>
      <code>{id}</code>
      <span>{outcomeText(outcome as Parameters<typeof outcomeText>[0])}</span>
      {description !== '' && <span class="note">{description}</span>}
    </span>
  </li>
);

function ScenarioList({ name: current }: { readonly name: string | null }) {
  const live = useLive();
  const { scenarios = [] } = live.scenarios.value ?? {};
  return (
    <ul class={css.rules} aria-label="Scenarios">
      {scenarios.map(({ name, description }) => (
        <li key={name} aria-current={name === current}>
          <span>
            <code>{name}</code>
            <span class="note">{description}</span>
          </span>
          <Button
            kind="small"
            off={name === current ? 'Already in use' : null}
            act={() => chooseScenario(live, name)}
          >
            Use<span class="unseen"> {name}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** What is edited as YAML. */
interface Edited {
  readonly isRules: boolean;
  readonly title: string;
  readonly text: string;
  /** What the text was made of, as JSON. */
  readonly from: string;
}

function YamlButtons({ top }: { readonly top: readonly RuleResponse[] }) {
  const live = useLive();
  const { world } = live;
  const scenario = live.scenario.value;
  const { isBusy, refusal, run } = useAction();
  const [edited, setEdited] = useState<Edited | null>(null);
  const off = scenario === null ? 'Loading' : null;
  const documentOf = (isRules: boolean): unknown => (isRules ? rulesDocument(top) : scenario?.document);
  const edit = (isRules: boolean): void =>
    run(async () => {
      const document = documentOf(isRules);
      const { text } = await checkScenario(live, { document });
      const title = isRules ? 'Overrides of this world' : `Scenario ${scenario?.name ?? ''}`;
      setEdited({ isRules, title, text, from: JSON.stringify(document) });
    });
  const text = 'The world behaves as written.';
  const use = async (document: unknown): Promise<Said> => {
    if (edited?.isRules === true) return { text, actions: await putRules(world, document) };
    await world.use(document as ScenarioInput);
    return text;
  };
  return (
    <>
      <Button isBusy={isBusy} off={off} act={() => edit(false)}>
        Edit as YAML
      </Button>
      <Button isBusy={isBusy} off={off} act={() => edit(true)}>
        {top.length === 0 ? 'Add a rule' : 'Edit overrides'}
      </Button>
      <Refusal text={refusal} />
      {edited !== null && (
        <EditorDialog
          title={edited.title}
          note={
            edited.isRules
              ? 'They are tried before those of the scenario.'
              : 'Its rules and outcomes, for this world only. No file changes.'
          }
          isChangedElsewhere={edited.from !== JSON.stringify(documentOf(edited.isRules))}
          start={edited.text}
          use={use}
          onClose={() => setEdited(null)}
        />
      )}
    </>
  );
}

/** How the world behaves: its scenario, and the overrides. */
export function ScenarioView() {
  const live = useLive();
  const scenario = live.scenario.value;
  const {
    rules = [],
    outcomes = [],
    name = '…',
    description = '',
    chosen: isChosen = false,
  } = scenario ?? {};
  const top = rules.filter(({ from }) => from === 'world');
  const own = rules.filter(({ from }) => from === 'scenario');
  const ownOutcomes = outcomes.filter(({ from }) => from === 'scenario');
  const isNormal = top.length === 0 && !isChosen;
  return (
    <section class="view scrolling" aria-labelledby="scenario-title">
      <header class="view-head">
        <h2 id="scenario-title">Scenario</h2>
        <p class="note" role="status">
          {scenario !== null && `${name}, ${isChosen ? 'chosen for this world' : 'active on the server'}`}
        </p>
        <Button off={isNormal ? 'Everything is normal' : null} act={() => backToNormal(live)}>
          Back to normal
        </Button>
        <YamlButtons top={top} />
      </header>
      {description !== '' && <p class="note">{description}</p>}
      {top.length > 0 && (
        <>
          <h3>Overrides</h3>
          <ul class={css.rules}>
            {top.map((rule) => (
              <RuleLine key={rule.id} rule={rule}>
                <Button kind="small" act={() => removeRule(live, rule.name)}>
                  Off<span class="unseen"> {rule.name}</span>
                </Button>
              </RuleLine>
            ))}
          </ul>
        </>
      )}
      <h3>Rules of {name}</h3>
      {scenario !== null && own.length === 0 ? (
        <p class="note">No rules.</p>
      ) : (
        <ul class={css.rules}>
          {own.map((rule) => (
            <RuleLine key={rule.id} rule={rule} />
          ))}
        </ul>
      )}
      <h3>Outcomes of {name}</h3>
      {scenario !== null && ownOutcomes.length === 0 ? (
        <p class="note">No outcomes.</p>
      ) : (
        <ul class={css.rules}>
          {ownOutcomes.map((outcome) => (
            <OutcomeLine key={outcome.id} outcome={outcome} />
          ))}
        </ul>
      )}
      <h3>All scenarios</h3>
      <ScenarioList name={scenario === null ? null : name} />
    </section>
  );
}
