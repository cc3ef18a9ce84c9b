#!/usr/bin/env node
import * as module from 'node:module';

// Node.js 22.8 and later then keep the compiled code for the next start; NODE_DISABLE_COMPILE_CACHE=1 turns that off
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

async function run(): Promise<void> {
  const nobodyReads = (): void => undefined; // a reader that has seen enough, as `head`, is no failure
  for (const output of [process.stdout, process.stderr]) output.on('error', nobodyReads);
  const { commandLine } = await import('./cli/command-line.ts'); // only what is loaded from here on is kept
  process.exitCode = await commandLine(process.argv.slice(2), process.env);
}

void run();
