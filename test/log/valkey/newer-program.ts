import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import { onTestFinished } from 'vitest';
import { yamlModules } from '../../../build/yaml-modules.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SCRIPTS = /log\/valkey\/scripts\.ts$/;

/** Builds the program as its next version may be: the same but for the number of the format. @returns its path */
export async function buildNewerProgram(): Promise<string> {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.newer-program-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let raised = 0;
  await build({
    config: false,
    logLevel: 'error',
    cwd: ROOT,
    entry: { main: 'src/main.ts' },
    outDir: folder,
    format: 'cjs',
    platform: 'node',
    noExternal: /./,
    inlineOnly: false,
    external: ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'],
    dts: false,
    plugins: [
      yamlModules(),
      {
        name: 'newer-format',
        transform(code: string, id: string) {
          if (!SCRIPTS.test(id)) return null;
          return code.replace(/(export const FORMAT = )(\d+)/, (_all, before: string, format: string) => {
            raised += 1;
            return before + String(Number(format) + 1);
          });
        },
      },
    ],
  });
  if (raised !== 1) throw new Error('the number of the format is somewhere else');
  return join(folder, 'main.cjs');
}
