#!/usr/bin/env node
import * as module from 'node:module';

// Node.js 22.8 and later then keep the compiled code for the next start; NODE_DISABLE_COMPILE_CACHE=1 turns that off
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

/** Ends the program, unless its command handles the signal itself. */
function quit(signal: NodeJS.Signals, number: number): void {
  if (process.listenerCount(signal) === 1) process.exit(128 + number);
}

// process 1 ignores a signal that nothing handles, also while the program is loaded, and would run until it is killed
if (process.pid === 1) process.on('SIGTERM', quit).on('SIGINT', quit);

async function run(): Promise<void> {
  const { commandLine } = await import('./cli/command-line.ts'); // the cache holds only what is loaded from here on
  const { watchOutput } = await import('./cli/output.ts');
  watchOutput();
  const exitCode = await commandLine(process.argv.slice(2), process.env);
  process.exitCode = exitCode || (process.exitCode ?? exitCode); // lost output may have set one
}

void run();
