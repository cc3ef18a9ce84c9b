import { useMemo, useState } from 'preact/hooks';
import type { ExplainInput } from '../../contract/control.ts';
import type { ExplainResponse, RuleVerdict } from '../../contract/control-responses.ts';
import type { InitiateRequest } from '../../contract/service.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { Choice } from '../ui/choice.tsx';
import { Refusal } from '../ui/marks.tsx';

const ROUTES = {
  initiate: 'this payout',
  status: 'a status read of it',
  balance: 'a balance read',
} as const;
type Route = keyof typeof ROUTES;

const requestOf = (route: Route, payout: InitiateRequest): ExplainInput => {
  if (route === 'initiate') return { route, body: payout };
  return route === 'status' ? { route, query: { client_ref_id: payout.client_ref_id } } : { route };
};

const Verdicts = ({ title, all }: { readonly title: string; readonly all: readonly RuleVerdict[] }) =>
  all.length === 0 ? null : (
    <details>
      <summary>
        {title} ({all.length})
      </summary>
      <ul class="stack">
        {all.map(({ id, taken, reason }) => (
          <li key={id}>
            <code>{id}</code> {taken && <strong>taken</strong>} <span class="note">{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );

const isMagic = ({ id }: RuleVerdict): boolean => id.startsWith('magic/');

const Explanation = ({
  answer: { rule, payout, note, rules, outcomes },
}: {
  readonly answer: ExplainResponse;
}) => (
  <>
    <p>
      {rule === null ? (
        'No rule: the normal response.'
      ) : (
        <>
          The rule <code>{rule}</code>.
        </>
      )}{' '}
      {payout === null
        ? 'No payout is made.'
        : `A payout is made: ${[
            'PENDING',
            ...payout.timeline.map(({ to, utr, when }) => `${to ?? (utr ? 'UTR set' : 'a step')} ${when}`),
          ].join(', ')}, as planned by ${payout.planned_by}.`}
    </p>
    {note !== null && <p class="note">{note}</p>}
    <Verdicts title="Rules, as they are tried" all={rules.filter((one) => !isMagic(one))} />
    <Verdicts title="Magic beneficiaries" all={rules.filter(isMagic)} />
    <Verdicts title="Outcomes, as they are tried" all={outcomes} />
  </>
);

/** What a request would get from this world now, and why. Nothing is sent. */
export function ExplainPanel({ payout }: { readonly payout: InitiateRequest }) {
  const live = useLive();
  const [route, setRoute] = useState<Route>('initiate');
  /** A response, and the request and the scenario that it is about, as JSON. */
  const [explained, setExplained] = useState<{ answer: ExplainResponse; about: string } | null>(null);
  const { isBusy, refusal, run } = useAction();
  const input = requestOf(route, payout);
  const scenario = live.scenario.value;
  const scenarioText = useMemo(() => JSON.stringify(scenario), [scenario]);
  const about = JSON.stringify(input) + scenarioText;
  const explain = (): void =>
    run(async () => {
      setExplained(null);
      setExplained({ answer: await live.world.explain(input), about });
    });
  return (
    <div class="stack">
      <div class="row-form">
        <label class="field">
          <span>What would happen to</span>
          <Choice value={route} options={Object.entries(ROUTES) as [Route, string][]} onChoose={setRoute} />
        </label>
        <Button isBusy={isBusy} act={explain}>
          Explain
        </Button>
      </div>
      <Refusal text={refusal} />
      {explained !== null && (
        <div role="status" aria-label="Explanation">
          {explained.about !== about && (
            <p class="note">The request or the scenario has changed since. Explain it again.</p>
          )}
          <Explanation answer={explained.answer} />
        </div>
      )}
    </div>
  );
}
