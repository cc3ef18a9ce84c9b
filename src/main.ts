#!/usr/bin/env node
import * as module from 'node:module';

// Node.js 22.8 and later then keep the compiled code for the next start; NODE_DISABLE_COMPILE_CACHE=1 turns that off
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

async function run(): Promise<void> {
  const { commandLine } = await import('./cli/command-line.ts'); // the cache holds only what is loaded from here on
  const { watchOutput } = await import('./cli/output.ts');
  watchOutput();
  const exitCode = await commandLine(process.argv.slice(2), process.env);
  process.exitCode = exitCode || (process.exitCode ?? exitCode); // lost output may have set one
}

void run();
