import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { worldsIn, type SnapshotWorld } from './world/snapshot-lines.ts';

/** A temporary folder, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A temporary folder with these files. */
export function folderWith(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** A file with this text, in a temporary folder of its own. */
export const fileWith = (name: string, text: string | Buffer): string =>
  join(folderWith({ [name]: text }), name);

/**
 * The folder of a user's project, with the package installed in it.
 * @param packages - what else is installed in it, from our own node_modules
 * @param manifest - its package.json. Without one, Node.js would use one from a folder above
 */
export function projectFolder(packages: readonly string[] = [], manifest: object = {}): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const install = (name: string, from: string): void => {
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(resolve(from), path);
  };
  install('payout-sandbox', '.');
  for (const name of packages) install(name, join('node_modules', name));
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
