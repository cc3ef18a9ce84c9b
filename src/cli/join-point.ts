import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { ControlClient } from '../client/control-client.ts';
import { sendOverHttp } from '../client/http-client.ts';
import { JOIN_VARIABLE, MISREPORTED } from '../client/joined-sandbox.ts';
import type { ConductReports, RefereeSettingsInput } from '../contract/conduct.ts';
import { evidenceOf } from '../http/control/referee-routes.ts';
import { whole } from '../world/steps.ts';
import type { WallClock } from '../worlds/wall-clock.ts';
import { systemClock } from '../platform/system-clock.ts';
import { isScenarioFile } from '../scenario/scenario-file.ts';
import type { Server } from '../server.ts';
import { readOptions, type SettingName, type Settings } from '../settings.ts';
import type { JoinedWorld } from '../trials/hunt/hunt.ts';
import type { Joined } from '../trials/run.ts';
import { complain } from './output.ts';
import { startOwnServer, type SettingFlags } from './own-server.ts';

export interface JoinRules<T> {
  /** `referee`, `hunt` or `matrix`, for messages. */
  readonly by: string;
  /** The settings that apply unless the test gives others. */
  readonly usual: SettingFlags;
  /** The settings of the outer command. */
  readonly outer: Settings;
  /** Whether to start a sandbox with them, for a command that starts none. */
  readonly opensOuter?: true;
  /** Those of them that apply whatever the test asks for. */
  readonly fixed: readonly SettingName[];
  /** What was said of options that are not followed: once, although a hunt starts its command many times. */
  readonly said: Set<string>;
  readonly log?: Logger | undefined;
  readonly wallClock?: WallClock;
  /** Where the text of each `world.reported` that fails is put. */
  readonly misreported?: string[];
  /** Called before the test gets the sandbox. */
  readonly prepare?: (server: Server) => Promise<unknown>;
  /** Called once, when the test closes the sandbox or the command has ended. */
  readonly collect: (server: Server) => Promise<T>;
}

/** Where the sandboxes of a command join this process. They are collected in the order in which they are closed. */
export interface JoinPoint<T> extends Joined<T> {
  /** The address of the sandbox with the settings of the outer command, if one was started. */
  readonly url: string | undefined;
  /** The file of its certificate, if one was made. */
  readonly certificate: string | undefined;
}

interface JoinRequest {
  readonly options: Readonly<Record<string, unknown>>;
  readonly folder: string;
}

const PATHS: ReadonlySet<string> = new Set<SettingName>(['scenarios', 'state']);
const NAMES_OR_PATHS: ReadonlySet<string> = new Set<SettingName>(['scenario', 'dialect']);

const isPath = (name: string, value: unknown): value is string =>
  typeof value === 'string' && (PATHS.has(name) || (NAMES_OR_PATHS.has(name) && isScenarioFile(value)));

/** The settings of a sandbox that a test asks for. */
function settingsFor(
  { options, folder }: JoinRequest,
  { by, usual, outer, fixed, said }: JoinRules<unknown>,
): Settings {
  const own = Object.entries(options).map(([name, value]) => [
    name,
    isPath(name, value) ? resolve(folder, value) : value,
  ]);
  const asked = readOptions({ port: 0, logLevel: 'silent', ...usual, ...Object.fromEntries(own) });
  const ignored = fixed.filter(
    (name) => (options[name] ?? null) !== null && !isDeepStrictEqual(asked[name], outer[name]),
  );
  const complaint = `startSandbox({ ${ignored.join(', ')} }) has no effect here: the flags of ${by} decide`;
  if (ignored.length > 0 && !said.has(complaint)) complain(complaint);
  said.add(complaint);
  return { ...asked, ...Object.fromEntries(fixed.map((name) => [name, outer[name]])) };
}

/** Runs the sandboxes that a command starts with `startSandbox` here, so that what its tests did can be judged, also if they are killed. */
export async function openJoinPoint<T>(rules: JoinRules<T>): Promise<JoinPoint<T>> {
  const servers = new Map<number, Server>();
  const starts: Promise<unknown>[] = [];
  const collected: Promise<T>[] = [];
  let started = 0;
  let hasEnded = false;
  const start = async (settings: Settings) => {
    const id = (started += 1);
    const server = await startOwnServer(settings, rules.log, rules.wallClock);
    servers.set(id, server);
    await rules.prepare?.(server).catch(async (error: unknown) => {
      servers.delete(id);
      await server.close();
      throw error;
    });
    const { url, adminToken, certificate } = server;
    return { id, url, adminToken, certificate };
  };
  const stop = async (id: number): Promise<void> => {
    const server = servers.get(id);
    if (server === undefined || !servers.delete(id)) return;
    const result = judged(server);
    collected.push(result); // an error is that of `end`, too
    await result;
  };
  const judged = async (server: Server): Promise<T> => {
    try {
      return await rules.collect(server);
    } finally {
      await server.close();
    }
  };
  // Known to the command only: others could have files read and written as this user, and end sandboxes.
  const path = `/${randomBytes(18).toString('base64url')}`;
  const respond = async (request: IncomingMessage): Promise<object> => {
    if (!request.url!.startsWith(path)) throw new Error(`only the command of ${rules.by} may use this`);
    if (request.url === path + MISREPORTED) {
      rules.misreported?.push(await text(request));
      return {};
    }
    if (request.method === 'POST') {
      const asked = (await json(request)) as JoinRequest;
      if (hasEnded) throw new Error('the command has ended');
      const starting = start(settingsFor(asked, rules));
      starts.push(starting);
      return starting;
    }
    await stop(Number(request.url!.slice(path.length + 1)));
    return {};
  };
  const listener = createServer((request, response) => {
    respond(request).then(
      (body) => response.end(JSON.stringify(body)),
      (error: Error) => response.writeHead(400).end(error.message),
    );
  });
  const outer = rules.opensOuter && (await start(rules.outer));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    variables: { [JOIN_VARIABLE]: `http://127.0.0.1:${port}${path}` },
    url: outer?.url,
    certificate: outer?.certificate,
    async end() {
      hasEnded = true;
      listener.close();
      listener.closeAllConnections();
      await Promise.allSettled(starts);
      for (const id of servers.keys()) await stop(id);
      return Promise.all(collected);
    },
  };
}

/** What the sandboxes of a command show of its client. */
interface Judged {
  readonly reports: ConductReports['worlds'];
  readonly evidence: readonly JoinedWorld[];
}

/** Opens a sandbox for a command, in which and in those that it starts itself the referee judges it. */
export const openJudged = (
  rules: Omit<JoinRules<Judged>, 'opensOuter' | 'prepare' | 'collect'>,
  conduct: RefereeSettingsInput,
): Promise<JoinPoint<Judged>> =>
  openJoinPoint({
    ...rules,
    opensOuter: true,
    prepare: ({ url, adminToken }) =>
      new ControlClient(sendOverHttp, url, adminToken).put('/worlds/referee', conduct),
    async collect(server) {
      const control = new ControlClient(sendOverHttp, server.url, server.adminToken);
      const { worlds } = await control.get<ConductReports>('/worlds/referee', { ended: true });
      return { reports: worlds, evidence: await joinedWorlds(server, rules.wallClock) };
    },
  });

/** Settings that a hunt and a matrix decide for each run: what is kept in a file or a store would outlive it. */
export const PER_RUN_SETTINGS: readonly SettingName[] = [
  'scenario',
  'scenarios',
  'dialect',
  'state',
  'store',
  'logLevel',
];

/** With a table of expected payouts, even an empty one, the evidence has every payout, whether or not it is still in the journal. */
const ALL_PAYOUTS = { expect: [] };

/** The evidence on every world of a server whose client has ended, and whether the client replaced the scenario of the run. */
export async function joinedWorlds(
  { worlds }: Server,
  wallClock = systemClock(),
): Promise<readonly JoinedWorld[]> {
  const all: JoinedWorld[] = [];
  for (const worldId of await worlds.ids()) {
    const joined = await worlds.visit(worldId, (state, world) => ({
      evidence: whole(evidenceOf(state, ALL_PAYOUTS, wallClock.nowMs(), true, world.droppedBefore)),
      hasOwnScenario: state.scenario.isChosen,
    }));
    if (joined !== null) all.push(joined);
  }
  return all;
}
