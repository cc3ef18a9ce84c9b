// A store in a process of its own for a bench. Needs redis-server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function startStore() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-bench-'));
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const child = spawn('redis-server', flags);
  process.once('exit', () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  for await (const text of child.stdout.setEncoding('utf8')) if (text.includes('Ready')) break;
  child.stdout.resume();
  /** What the store says of itself under this name. */
  const info = async (section, name) => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write(`INFO ${section}\r\n`);
    let text = '';
    for await (const piece of socket) {
      text += piece;
      if (text.includes(`${name}:`) && text.endsWith('\r\n\r\n')) break;
      if (new RegExp(`${name}:\\S+\r\n`).test(text)) break;
    }
    return Number(new RegExp(`${name}:([\\d.]+)`).exec(text)[1]);
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    cpuMs: async () => 1000 * ((await info('cpu', 'used_cpu_user')) + (await info('cpu', 'used_cpu_sys'))),
    memory: () => info('memory', 'used_memory'),
  };
}
