// Loaded into the program beside it (`--expose-gc --import`): answers each message of its parent with what is on the heap
// after everything that nobody holds has been collected.
process.on('message', () => {
  globalThis.gc();
  globalThis.gc(); // what the first one finalised
  process.send(process.memoryUsage());
});
process.channel.unref(); // asking must not keep the program alive
