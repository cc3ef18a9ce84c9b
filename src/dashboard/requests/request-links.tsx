import { openRequest } from '../shell/navigation.ts';
import { Button } from '../ui/button.tsx';

/** A link for each request, which opens it. */
export const RequestLinks = ({ requests }: { readonly requests: readonly number[] }) => (
  <span class="links">
    {requests.map((id) => (
      <Button key={id} kind="link" isLocal label={`Request #${id}`} act={() => openRequest(id)}>
        #{id}
      </Button>
    ))}
  </span>
);
