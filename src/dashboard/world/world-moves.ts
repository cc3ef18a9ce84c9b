import { signal } from '@preact/signals';
import { payoutsCsv } from '../payouts/payouts-csv.ts';
import { worldName } from '../shell/address.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { download } from './download.ts';

/** Whether the view of the world is to be reset once it is shown, which may have to ask. */
export const isResetWanted = signal(false);

const nameOf = ({ summary }: LiveWorld): string => worldName(summary.value?.id ?? '');

export async function saveSnapshot(live: LiveWorld): Promise<void> {
  download(`world-${nameOf(live)}.ndjson`, await live.world.snapshot(), 'application/x-ndjson');
}

export async function savePayouts(live: LiveWorld): Promise<void> {
  download(`payouts-${nameOf(live)}.csv`, payoutsCsv(await live.world.transactions()), 'text/csv');
}
