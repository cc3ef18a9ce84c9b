import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that a system gives to whoever asks for any. */
const [FROM, TO] = [22_500, 32_000];

/** A free port that nobody gets by chance while a test does not use it. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FROM, TO);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue; // another program has it
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
