import { webcrypto } from 'node:crypto';
import * as hooks from 'node:perf_hooks';
import process from 'node:process';
import * as timers from 'node:timers';
import * as url from 'node:url';
import * as util from 'node:util';

/**
 * The globals of Node.js as they were when the package was loaded. The build puts them in the place of the globals, also in the libraries
 * that it bundles: tests replace timers and the clock, and environments such as jsdom have others, or none.
 */
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = timers;
export const { URL, URLSearchParams } = url;
export const { TextDecoder, TextEncoder } = util;
export const { performance } = hooks;
export const crypto = webcrypto;
export const nextTick = process.nextTick.bind(process);
export const { queueMicrotask } = globalThis;

const aborting = util.transferableAbortController(); // of Node's own class, which no module exports
export const AbortController = aborting.constructor;
export const AbortSignal = aborting.signal.constructor;

/** Node's own: those that fake timers put in its place inherit from it, or have its prototype. */
export const Date = (function own(date: DateConstructor): DateConstructor {
  const above = Object.getPrototypeOf(date) as DateConstructor;
  return 'now' in above ? own(above) : (date.prototype.constructor as DateConstructor);
})(globalThis.Date);
