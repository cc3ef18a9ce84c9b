import { adviceOn, errorLines, type Actor } from '../../actions/sandbox-action.ts';
import type { Sandbox } from '../../client/sandbox.ts';
import type { World } from '../../client/controlled-world.ts';
import { plain } from '../../referee/reports/summary.ts';
import { SettingsError } from '../../settings.ts';

const MOST_SNAPSHOTS = 10;

/** A coding agent: its texts are in its arguments, and what it saves is kept until its connection ends. */
export function agentActor(sandbox: Sandbox, ownKey: string): Actor {
  const worlds = new Map<string, World>();
  const kept = new Map<string, string>();
  return {
    sandbox,
    world(key = ownKey) {
      // the same object for each call, since it numbers the payouts that it makes
      const world = worlds.get(key) ?? sandbox.world(key);
      worlds.set(key, world);
      return world;
    },
    keyText: (key = ownKey) => `the key ${key}`,
    texts: {
      read: (_calledBy, given) => ({
        name: 'the text',
        text: typeof given === 'string' ? given : JSON.stringify(given),
      }),
      async save(_calledBy, name, text) {
        if (kept.size >= MOST_SNAPSHOTS && !kept.has(name)) {
          const names = [...kept.keys()].join(', ');
          throw new SettingsError(`at most ${MOST_SNAPSHOTS} snapshots are kept: save over one of ${names}`);
        }
        kept.set(name, await text());
      },
      saved(_calledBy, name) {
        const snapshot = kept.get(name);
        if (snapshot !== undefined) return snapshot;
        const known = kept.size === 0 ? 'none was saved yet' : `there are ${[...kept.keys()].join(', ')}`;
        throw new SettingsError(`there is no snapshot ${name}: ${known}`);
      },
    },
    paint: plain,
  };
}

const advice = {
  noSandbox:
    '; ask the user to start one with payout-sandbox at that address, or to give this server another with --url',
  adminToken: '; ask the user to give it to this server with --admin-token or SANDBOX_ADMIN_TOKEN',
  key: '; the argument key names another key, and --key of this server the usual one',
};

/** An error as a tool returns it. */
export const errorText = (error: unknown): string =>
  error instanceof Error ? errorLines(error).join('\n') + adviceOn(error, advice) : String(error);
