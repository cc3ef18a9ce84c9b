import { chooseKey, offeredKey } from './session.ts';

/** Asks whether the key of a link should replace the stored one. */
export function KeyQuestion({ kept }: { readonly kept: string }) {
  const offered = offeredKey.value;
  if (offered === null) return null;
  return (
    <div class="question" role="alert">
      <span>
        This link replaces your key <code>{kept}</code> with <code>{offered}</code>. Open it only if you know
        who made it.
      </span>
      <button type="button" class="button small" onClick={() => chooseKey(kept)}>
        Keep my key
      </button>
      <button type="button" class="button small" onClick={() => chooseKey(offered)}>
        Open the world of the link
      </button>
    </div>
  );
}
