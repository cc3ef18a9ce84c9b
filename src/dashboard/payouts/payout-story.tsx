import type { TransactionResponse } from '../../contract/control-responses.ts';
import { openRequest } from '../shell/navigation.ts';
import { Button, CopyButton } from '../ui/button.tsx';
import { duration, istShortDay, istTime, utcMoment } from '../ui/formats.ts';
import { gapText, storyMarkdown, type StoryLine } from './two-lanes.ts';
import css from './story.module.css';

interface LineProps {
  readonly line: StoryLine;
  readonly before: StoryLine | undefined;
  readonly nowMs: number;
}

function Line({ line, before, nowMs }: LineProps) {
  const { atMs, bank, client, request, isAhead, gap, known, state } = line;
  const [what, amount] = bank?.split(/(?=[−+]₹)/) ?? []; // no line breaks between the sign and the amount
  const isSameDay = before !== undefined && istShortDay(before.atMs) === istShortDay(atMs);
  return (
    <>
      <li class={css.line} data-ahead={isAhead ? '' : undefined} data-gap={gap?.kind}>
        <time dateTime={new Date(atMs).toISOString()} title={utcMoment(atMs)}>
          {!isSameDay && <span class="dim">{istShortDay(atMs)} </span>}
          {istTime(atMs)}
        </time>
        <span class={css.bank} data-state={bank === null ? undefined : (state ?? undefined)}>
          {what}
          {amount !== undefined && <span class="number">{amount}</span>}
          {isAhead && <span class="dim"> in {duration(Math.max(0, atMs - nowMs))}</span>}
        </span>
        <span class={css.client}>
          {request === null || client === null ? null : (
            <Button kind="link" isLocal act={() => openRequest(request)}>
              {client}
            </Button>
          )}
        </span>
      </li>
      {gap !== null && gap.ms !== null && (
        <li class={css.gap} data-kind={gap.kind}>
          {gapText(gap, known)}
        </li>
      )}
    </>
  );
}

interface Props {
  readonly payout: TransactionResponse;
  readonly story: readonly StoryLine[];
  readonly nowMs: number;
}

/** What the bank did and what the client saw, in two lanes, with a red gap where money is at risk. */
export function PayoutStory({ payout, story, nowMs }: Props) {
  return (
    <div class="stack">
      <div class={css.lanes} aria-hidden="true">
        <span>World time</span>
        <span>Bank</span>
        <span>Your client</span>
      </div>
      <ol aria-label="Story">
        {story.map((line, index) => (
          <Line key={index} line={line} before={story[index - 1]} nowMs={nowMs} />
        ))}
      </ol>
      <div class="buttons">
        <CopyButton label="Copy as Markdown" text={() => storyMarkdown(payout, story)} />
      </div>
    </div>
  );
}
