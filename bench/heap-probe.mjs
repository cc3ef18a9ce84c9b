// Loaded into the sandbox's process before it starts (`--import`): says what it holds after a complete collection, and how much
// it has computed.
import { setImmediate as turn } from 'node:timers/promises';

async function tellMemory() {
  // twice, with turns in between: array buffers are let go of a little after what held them
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await turn();
  }
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  process.send({ heapUsed, external, arrayBuffers, rss });
}

process.on('message', (what) => {
  if (what === 'cpu') process.send(process.cpuUsage());
  else void tellMemory();
});
process.channel.unref();
