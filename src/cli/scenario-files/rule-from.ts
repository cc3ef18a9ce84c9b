import { SandboxError } from '../../client/control-client.ts';
import { repeatingRule } from '../../client/repeating-rule.ts';
import { World } from '../../client/world.ts';
import type { JournalEntry } from '../../contract/control-answers.ts';
import { TrafficError } from '../../referee/har.ts';
import { savedTraffic } from '../../referee/saved-traffic.ts';
import { scenarioText } from '../../scenario/scenario-text.ts';
import { SettingsError } from '../../settings.ts';
import { checkAddress, checkRequest } from '../flag-checks.ts';
import { textOfFile, unusableFile } from '../input-files.ts';
import { EXIT_OK, say } from '../output.ts';

export interface RuleFromFlags {
  readonly url?: string;
  readonly key?: string;
}

function savedEntries(file: string): readonly JournalEntry[] {
  try {
    return savedTraffic(textOfFile('rule-from', file)).requests;
  } catch (error) {
    if (!(error instanceof TrafficError)) throw error;
    throw unusableFile('rule-from', file, error);
  }
}

/** The journal of a key's world in a running sandbox. */
async function entriesAt(url: string, key: string): Promise<readonly JournalEntry[]> {
  checkAddress('--url', url);
  try {
    return await new World(url, key).requests();
  } catch (error) {
    const isRefusal = error instanceof SandboxError;
    const reason = isRefusal ? `the sandbox at ${url} refused: ${error.message}` : (error as Error).message;
    throw new SettingsError(reason, { cause: error });
  }
}

/**
 * `payout-sandbox rule-from FILE REQUEST_ID`, or with `--url` and `--key` instead of a file: prints a scenario with one rule,
 * which matches that request and repeats what it got.
 *
 * @throws SettingsError when there is no such request, or the journal cannot be read
 */
export async function ruleFrom(words: readonly string[], { url, key }: RuleFromFlags): Promise<number> {
  const [request, file, ...more] = words.toReversed();
  if (request === undefined || more.length > 0 || (url === undefined) === (file === undefined)) {
    throw new SettingsError(
      'rule-from needs a file and the id of a request, such as rule-from journal.json 3, or --url and --key and the id',
    );
  }
  if (url === undefined && key !== undefined) {
    throw new SettingsError('--key does nothing without --url');
  }
  if (url !== undefined && key === undefined) {
    throw new SettingsError('rule-from --url needs --key: the key whose world has the request');
  }
  checkRequest('rule-from', request);
  const entries = url === undefined ? savedEntries(file!) : await entriesAt(url, key!);
  const rule = repeatingRule(entries, request, (reason) => new SettingsError(reason));
  say(scenarioText({ rules: [rule] }).trimEnd());
  return EXIT_OK;
}
