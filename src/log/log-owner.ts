import type { Applied } from '../world/apply.ts';
import type { Command, Stamp } from '../world/commands.ts';
import type { OrderedCommand } from './ordered-command.ts';
import type { DropReason, Logged, MaybePromise } from './store.ts';

/** What the commands of a log do to the connections of this server, and what its world may hold. */
export interface LogOwner {
  /** @throws Refusal SANDBOX_FULL without enough room for a restore */
  roomFor(command: Command): Pick<Stamp, 'maxRecords' | 'records' | 'keep' | 'scenarioCharactersFree'>;
  /** A command was applied for the first time here. @param item set for a command of this server that somebody waits for */
  happened(logged: Logged, outcome: Applied, item: OrderedCommand | null): void;
  /** What came from the log was applied. */
  followed(): void;
  /** The world was opened again, at a later place. */
  reopened(how: Reopened): MaybePromise<void>;
  ended(reason: DropReason): void;
}

export interface Reopened {
  /** It was dropped, and made again for a request. */
  readonly isNew: boolean;
  /** It is the same world: it was not dropped meanwhile. */
  readonly isSame: boolean;
  /** Some commands were skipped. */
  readonly isSkipped: boolean;
  /** A reset or a restore was among them, or it is another world. */
  readonly isReplaced: boolean;
}
