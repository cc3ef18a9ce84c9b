/** All of the sandbox, as the build puts it into one file that the program and the library share. */
export * from './index.ts';
export { commandLine } from './cli/command-line.ts';
