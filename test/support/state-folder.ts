import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { worldsIn, type SnapshotWorld } from './world/snapshot-lines.ts';

/** A temporary folder, removed when the test ends. */
export function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The worlds of a state file, which must be complete; null when there is no file. */
export function keptWorlds(file: string): readonly SnapshotWorld[] | null {
  try {
    return worldsIn(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
