import type { Change } from '../../../payout/payout.ts';
import type { Applied } from '../../../world/apply.ts';
import { isReplacing, isUse, type Command } from '../../../world/commands.ts';
import type { StreamEntry, Room } from '../log-entry.ts';
import { FORMAT, type WorldKeys } from '../scripts/scripts.ts';
import type { Place } from '../stored/stored-snapshot.ts';

/** A command of this server that waits to be appended and applied. */
export interface OwnCommand {
  /** Which of this server's commands it is. */
  readonly number: number;
  readonly command: Command;
  /** Its text in the log. */
  readonly text: string;
  readonly room: Room;
  /** Called with the changes from this command on, until it is finished. */
  readonly collect: ((changes: readonly Change[]) => void) | undefined;
  readonly applied: (outcome: Applied) => void;
  readonly failed: (error: unknown) => void;
}

/** A caller that waits until the state is up to date. */
export interface Look {
  /** Whether a request of the service begins with it. */
  readonly begins: boolean;
  /** @param nth the number of the request that begins */
  readonly ready: (nth: number) => void;
  readonly failed: (error: unknown) => void;
}

/** What the script `append` returns. */
export type AppendReply =
  | readonly ['done', nowMs: number, watchedUntilMs: number, news: readonly StreamEntry[], asked: number]
  | readonly ['more', nowMs: number, zero: 0, news: readonly StreamEntry[]]
  | readonly ['behind']
  | readonly ['gone']
  | readonly ['newer', format: number];

/** What a server sends about itself and its copy in a call. */
interface Call {
  readonly keys: WorldKeys;
  readonly epoch: string;
  /** What it has seen of the log. */
  readonly place: Place;
  /** The fingerprint of the state at that place. */
  readonly fingerprint: string;
  readonly server: string;
  readonly number: number;
  /** How many requests begin. */
  readonly begins: number;
}

/** The keys and arguments of the script `append`. */
export function appendArguments(
  { keys, epoch, place, fingerprint, server, number, begins }: Call,
  commands: readonly OwnCommand[],
): readonly (string | number)[] {
  const { head, log, journal, news } = keys;
  const args: (string | number)[] = [head, log, journal, epoch, FORMAT, place.position, place.name];
  args.push(server, news, fingerprint, `${server}:${number}`, begins);
  args.push(begins > 0 || commands.some(({ command }) => isUse(command)) ? 1 : 0);
  for (const { number, command, text } of commands) args.push(number, isReplacing(command) ? 1 : 0, text);
  return args;
}
