import { z } from 'zod';
import { ControlClient, SandboxError } from '../../client/control-client.ts';
import type { Sandbox } from '../../client/sandbox.ts';
import type { TestWorld } from '../../client/test-world.ts';
import { parseShape, pathText } from '../../contract/shape-issues.ts';
import { ScenarioError } from '../../scenario/scenario-file.ts';

/** Why a tool cannot do what it was asked to do. The message is for the agent. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** What the tools of one connection work on. */
export class Session {
  readonly sandbox: Sandbox;
  /** The key of the world of a call that names none. */
  readonly key: string;
  readonly isAdmin: boolean;
  readonly mayRunCommands: boolean;
  /** Snapshots of worlds, by the names that the agent gave them. */
  readonly snapshots = new Map<string, string>();
  readonly #worlds = new Map<string, TestWorld>();

  constructor({
    sandbox,
    key,
    isAdmin,
    mayRunCommands,
  }: Pick<Session, 'sandbox' | 'key' | 'isAdmin' | 'mayRunCommands'>) {
    this.sandbox = sandbox;
    this.key = key;
    this.isAdmin = isAdmin;
    this.mayRunCommands = mayRunCommands;
  }

  /** The same object for each call, since it numbers the payouts that it makes. */
  world(key: string = this.key): TestWorld {
    const world = this.#worlds.get(key) ?? this.sandbox.world(key);
    this.#worlds.set(key, world);
    return world;
  }

  control(key: string = this.key): ControlClient {
    return new ControlClient(this.sandbox.url, key);
  }
}

/** One call of a tool. */
export interface Call {
  /** Aborted when the agent no longer wants the answer. */
  readonly signal: AbortSignal;
  /** Shows how far it is. */
  readonly progress: (message: string) => void;
}

/** Something that an agent can do. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** Whether it only reads, changes a world, or discards what a world holds: a host may ask its user first. */
  readonly effect: 'reads' | 'changes' | 'loses';
  /** @returns text for the agent, or what is written as JSON @throws Error whose message is for the agent */
  readonly run: (given: unknown, session: Session, call: Call) => Promise<unknown>;
}

/** The argument of every tool that works on one world. */
export const ofWorld = {
  key: z
    .string()
    .min(1)
    .optional()
    .describe('The API key whose world is meant. By default the key that `status` shows'),
};

/** The argument of every tool that lists. */
export const atMost = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe('The most to show; the latest come last');

/** A tool with its arguments, which are checked before it runs. */
export const tool = <Input extends z.ZodObject>({
  run,
  ...about
}: Omit<Tool, 'run' | 'input'> & {
  readonly input: Input;
  readonly run: (input: z.output<Input>, session: Session, call: Call) => Promise<unknown>;
}): Tool => ({
  ...about,
  async run(given, session, call) {
    const { value, issues } = parseShape(about.input, given);
    if (issues === undefined) return run(value, session, call);
    const lines = issues.map(({ path, message }) => `${pathText(path) || 'the arguments'} ${message}`);
    throw new ToolError(lines.join('\n'));
  },
});

/** An error as text for the agent: the message of the control API, with a line for each field. */
export function errorText(error: unknown): string {
  if (error instanceof ScenarioError) return error.lines.join('\n');
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof SandboxError)) return error.message;
  const inMessage = error.errors.every(({ message }) => error.message.includes(message));
  const lines = inMessage ? [] : error.errors.map(({ message }) => `  ${message}`);
  return [`${error.message} (${error.status} ${error.code})`, ...lines].join('\n');
}
