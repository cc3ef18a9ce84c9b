import { RefereeSettings } from '../../contract/conduct.ts';
import { TrafficError } from '../../referee/har.ts';
import { judge } from '../../referee/judge.ts';
import { reportsOf } from '../../referee/reports/summary.ts';
import { savedTraffic } from '../../referee/saved-traffic.ts';
import { textOfFile, unusableFile } from '../named-files.ts';
import { conductOptions, publish, type ConductFlags } from './conduct-options.ts';

/**
 * `payout-sandbox examine FILE`: judges traffic that was saved, from this sandbox or from anywhere.
 *
 * @returns the exit code: 1 for bad conduct
 */
export function examine(file: string, flags: ConductFlags, environment: NodeJS.ProcessEnv): number {
  const options = conductOptions(flags);
  try {
    const evidence = savedTraffic(textOfFile('examine', file));
    if (evidence.requests.length === 0) throw new TrafficError('it has no requests');
    const report = judge(file, evidence, RefereeSettings.parse(options.settings));
    return publish(reportsOf([report]), options, environment);
  } catch (error) {
    if (!(error instanceof TrafficError)) throw error;
    throw unusableFile('examine', file, error);
  }
}
