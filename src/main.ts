#!/usr/bin/env node
import type * as core from './core.ts';
import { loadCompiled } from './cli/code-cache.ts';

const { commandLine } = loadCompiled(new URL('core.cjs', import.meta.url)) as typeof core;

// built as CommonJS, which starts sooner and does not wait at its top
async function run(): Promise<void> {
  process.exitCode = await commandLine(process.argv.slice(2), process.env);
}

void run();
