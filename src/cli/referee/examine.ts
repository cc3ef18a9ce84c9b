import { RefereeSettings } from '../../contract/conduct.ts';
import { UsageError } from '../../contract/usage-error.ts';
import { judge } from '../../referee/judge.ts';
import { reportsOf } from '../../referee/reports/summary.ts';
import { savedTraffic } from '../../referee/saved-traffic.ts';
import { usedFile } from '../named-files.ts';
import { conductOptions, publish, type ConductFlags } from './conduct-options.ts';

/** `payout-sandbox examine FILE`. @returns the exit code: 1 for bad conduct */
export function examine(file: string, flags: ConductFlags, environment: NodeJS.ProcessEnv): number {
  const options = conductOptions(flags);
  const evidence = usedFile('examine', file, (text) => {
    const saved = savedTraffic(text);
    if (saved.requests.length === 0) throw new UsageError('it has no requests');
    return saved;
  });
  const report = judge(file, evidence, RefereeSettings.parse(options.settings));
  const reports = reportsOf([report]);
  const { others } = evidence;
  const notes = others === undefined ? reports.notes : [...reports.notes, others.note];
  return publish({ ...reports, notes }, options, environment);
}
