import { createRequire } from 'node:module';
import type fastJsonStringify from 'fast-json-stringify';
import type * as levenshtein from 'fastest-levenshtein';
import type * as promClient from 'prom-client';
import type * as re2js from 're2js';
import type * as yaml from 'yaml';

/** The packages that take their time to load, and are not needed to start, by name. */
interface LazyPackages {
  'fast-json-stringify': typeof fastJsonStringify;
  'fastest-levenshtein': typeof levenshtein;
  'prom-client': typeof promClient;
  re2js: typeof re2js;
  yaml: typeof yaml;
}
export type LazyPackage = keyof LazyPackages;

/** Set by the build, which puts each of these packages into a file of its own. */
declare const BUNDLED: true | undefined;

const require = createRequire(import.meta.url);

/** Loads a package at its first use. Synchronously, since a rule may name a scenario in the middle of a request. */
export const lazyPackage = <Name extends LazyPackage>(name: Name): LazyPackages[Name] =>
  require(typeof BUNDLED === 'undefined' ? name : `./${name}.cjs`) as LazyPackages[Name];
