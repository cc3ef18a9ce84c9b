import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Passes bytes between clients and a server, and breaks connections on request. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Where new connections lead. */
  targetPort: number;
  /** Which reply is cut, and after how many bytes. */
  #cut: { replies: number; readonly afterBytes: number } | null = null;
  #isStalled = false;
  /** The command at which connections are cut, and how often. */
  #cutAt: { readonly command: RegExp; times: number } | null = null;

  private constructor(targetPort: number) {
    this.targetPort = targetPort;
    this.#server = createServer((client) => this.#pass(client));
  }

  static async to(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts the connection in the middle of a reply, after some whole ones, so that nobody knows what became of its command. */
  cutReply(wholeReplies: number, afterBytes: number): void {
    this.#cut = { replies: wholeReplies, afterBytes };
  }

  /** Lets nothing through, and says nothing of it; or lets it go on. */
  stall(isStalled: boolean): void {
    this.#isStalled = isStalled;
    for (const socket of this.#sockets) {
      if (isStalled) socket.pause();
      else socket.resume();
    }
  }

  /** Cuts the next connections at the moment at which they send a command. */
  cutAt(command: string, times: number): void {
    this.#cutAt = { command: new RegExp(`\\r\\n${command}\\r\\n`, 'i'), times };
  }

  /** How many connections are still to be cut at their command. */
  get cutsLeft(): number {
    return this.#cutAt?.times ?? 0;
  }

  /** Cuts all connections. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cutAll();
    this.#server.close();
  }

  #pass(client: Socket): void {
    const server = connect(this.targetPort, '127.0.0.1');
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
      if (this.#isStalled) socket.pause();
    }
    client.on('data', (bytes) => {
      const cut = this.#cutAt;
      if (cut === null || cut.times === 0 || !cut.command.test(bytes.toString('latin1')))
        return server.write(bytes);
      cut.times -= 1;
      return client.destroy();
    });
    server.on('data', (bytes) => {
      if (this.#cut === null || this.#cut.replies > 0) {
        if (this.#cut !== null) this.#cut.replies -= 1;
        client.write(bytes);
        return;
      }
      client.write(bytes.subarray(0, this.#cut.afterBytes), () => client.destroy());
      this.#cut = null;
    });
  }
}
