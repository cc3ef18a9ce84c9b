import { showView } from '../shell/navigation.ts';
import { Button } from '../ui/button.tsx';

/** The element that shows a rule or an outcome in the view of the scenario. */
export const placeOf = (id: string): string => `of ${id}`;

/** A rule or an outcome, with a link to where the scenario shows it; other names have no link. */
export const RuleLink = ({ id }: { readonly id: string }) =>
  id.includes('/') ? (
    <Button kind="link" isLocal act={() => showView('scenario', `[id="${placeOf(id)}"]`)}>
      {id}
    </Button>
  ) : (
    <>{id}</>
  );
