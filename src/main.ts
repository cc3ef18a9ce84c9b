#!/usr/bin/env node
import { commandLine } from './runtime/command-line.ts';

process.exitCode = await commandLine(process.argv.slice(2), process.env);
