// Loaded into the sandbox's process before it starts (`--import`): measures the longest turn of its event loop, in processor
// time of the main thread, so that other processes on the machine do not count. Linux only.
import { openSync, readSync } from 'node:fs';

const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const buffer = Buffer.alloc(64);
let isWatching = false;
let longest = 0;

/** Processor time of the main thread so far, in ms. */
function cpuMs() {
  const length = readSync(file, buffer, 0, buffer.length, 0);
  return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}

function turn(beforeMs) {
  const nowMs = cpuMs();
  longest = Math.max(longest, nowMs - beforeMs);
  if (isWatching) setImmediate(turn, nowMs);
}

process.on('message', (what) => {
  if (what === 'watch') {
    isWatching = true;
    longest = 0;
    setImmediate(turn, cpuMs());
  } else if (what === 'longest') {
    isWatching = false;
    setImmediate(() => process.send(longest)); // after the turn that was still being measured
  }
});
process.channel.unref();
