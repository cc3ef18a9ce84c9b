import { z } from 'zod';
import { ControlClient, NoSandboxError, SandboxError } from '../client/control-client.ts';
import type { Sandbox } from '../client/sandbox.ts';
import type { World } from '../client/controlled-world.ts';
import { sendOverHttp } from '../client/http-client.ts';
import { parseShape, pathText } from '../contract/shape-issues.ts';
import type { Paint } from '../referee/reports/summary.ts';
import { SettingsError } from '../settings.ts';
import { jsonText, visibleLine } from './text-output.ts';

/** What can be done to a running sandbox. Commands of the command line and tools for coding agents are made from it. */

/** Where texts come from and go to: files of the command line, the arguments and the memory of the MCP server. */
export interface Texts {
  readonly read: (calledBy: string, given: unknown) => { readonly name: string; readonly text: string };
  readonly save: (calledBy: string, name: string, text: () => Promise<string>) => Promise<void>;
  readonly saved: (calledBy: string, name: string) => string;
}

/** Who acts: on which sandbox, and with which key. */
export interface Actor {
  readonly sandbox: Sandbox;
  readonly world: (key?: string) => World;
  /** The key in words. A key that may be a secret is not shown. */
  readonly keyText: (key?: string) => string;
  readonly texts: Texts;
  readonly paint: Paint;
  /** Ends the wait for a response, when nobody wants it any more. */
  readonly signal?: AbortSignal;
}

/** One use of an action: its world, and how to write the response. */
export interface Session extends Omit<Actor, 'world' | 'keyText'> {
  readonly world: World;
  /** For what `world` does not offer: a page of a list, the version. */
  readonly control: ControlClient;
  readonly keyText: string;
  /** How the user knows an argument: `--all` in a terminal, `all` for an agent. */
  readonly nameOf: (argument: string) => string;
}

const SHOWN = { json: z.boolean().default(false).describe('print the response as JSON') };

/** The arguments of every action, by what it is done to. */
export const COMMON = {
  world: { key: z.string().min(1).optional().describe('the key of the world'), ...SHOWN },
  sandbox: SHOWN,
} as const;

export interface Action {
  /** `rule add`; as a tool `rule_add` */
  readonly name: string;
  /** What it does, in an imperative sentence without an end. */
  readonly summary: string;
  readonly details: string;
  /** Whether it only reads, changes a world, or discards what a world holds: an editor may ask its user first. */
  readonly effect: 'reads' | 'changes' | 'loses';
  readonly input: z.ZodObject;
  /** What it is done to: a world by default. What is done to the whole sandbox may need the admin token. */
  readonly scope: keyof typeof COMMON;
  /** The arguments that stand on the command line without a flag, in this order. */
  readonly words: readonly string[];
  /** Its result as text, and whether that means that something failed. @param nameOf how the user knows an argument */
  readonly perform: (
    given: unknown,
    actor: Actor,
    nameOf: (field: string) => string,
  ) => Promise<{ readonly text: string; readonly hasFailed: boolean }>;
}

interface Definition<Input extends z.ZodRawShape, Result>
  extends Pick<Action, 'name' | 'summary' | 'effect'>, Partial<Pick<Action, 'details' | 'scope'>> {
  readonly input?: Input;
  readonly words?: readonly (keyof Input & string)[];
  readonly run: (input: z.output<z.ZodObject<Input>>, session: Session) => Promise<Result>;
  /** The response as lines for people. */
  readonly lines: (
    result: Result,
    session: Session,
    input: z.output<z.ZodObject<Input>>,
  ) => readonly string[] | Promise<readonly string[]>;
  readonly hasFailed?: (result: Result) => boolean;
}

/** @param nameOf how the user knows an argument @throws SettingsError with a line for each that is wrong */
export function parsed<Input extends z.ZodObject>(
  input: Input,
  given: unknown,
  nameOf: (field: string) => string,
) {
  const { value, issues } = parseShape(input, given);
  if (issues === undefined) return value;
  const lines = issues.map(({ path: [field, ...rest], message }) =>
    field === undefined
      ? `the arguments ${message}`
      : `${[nameOf(String(field)), pathText(rest)].join('.').replace(/\.$/, '')} ${message}`,
  );
  throw new SettingsError(lines.join('\n'));
}

export function action<Input extends z.ZodRawShape, Result>({
  run,
  lines,
  hasFailed = () => false,
  input: shape = {} as Input,
  details = '',
  words = [],
  scope = 'world',
  ...about
}: Definition<Input, Result>): Action {
  const schema = z.strictObject({ ...shape, ...COMMON[scope] });
  return {
    ...about,
    details,
    words,
    scope,
    input: schema,
    async perform(given, actor, nameOf) {
      const { key, json, ...own } = parsed(schema, given, nameOf) as Partial<
        z.output<z.ZodObject<typeof COMMON.world>>
      >;
      const world = actor.world(key);
      const control = new ControlClient(sendOverHttp, world.url, world.apiKey);
      const session = { ...actor, world, control, keyText: actor.keyText(key), nameOf };
      const input = own as z.output<z.ZodObject<Input>>;
      const result = await run(input, session);
      const shown = json ? [] : await lines(result, session, input);
      const text = json ? jsonText(result) : shown.map((line) => visibleLine(line, true)).join('\n');
      return { text, hasFailed: hasFailed(result) };
    },
  };
}

/** An error in lines: the message of the control API, with a line for each field. */
export function errorLines(error: Error): readonly string[] {
  if (!(error instanceof SandboxError)) return error.message.split('\n');
  const isSaid = error.errors.every(({ message }) => error.message.includes(message));
  return [error.message, ...(isSaid ? [] : error.errors.map(({ message }) => message))];
}

/** What to do about a sandbox that cannot be reached, or that refuses; empty for other errors. */
export function adviceOn(
  error: Error,
  advice: Readonly<Record<'noSandbox' | 'adminToken' | 'key', string>>,
): string {
  if (error instanceof NoSandboxError) return advice.noSandbox;
  if (!(error instanceof SandboxError) || error.status !== 401) return '';
  return error.message.includes('ADMIN_TOKEN') ? advice.adminToken : advice.key;
}
