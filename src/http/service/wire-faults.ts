import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Fault } from '../../scenario/rule.ts';
import type { Answered } from '../../world/journal/exchange.ts';
import type { HeldUntil } from './delayed-response.ts';

interface FaultContext {
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** What would have gone over the wire. */
  readonly answer: Answered;
  /** The bytes of the fault `garbage`. */
  readonly garbage: readonly number[];
  /** Waits, for a time or for as long as the client stays. */
  readonly wait: (ms: number | null) => Promise<HeldUntil>;
}

const SLOW_BEAT_MS = 100;

/** Starts an answer that promises `length` bytes of body. */
function writeHead({ response, answer }: FaultContext, length: number): void {
  response.writeHead(answer.status, {
    ...(answer.headers as NodeJS.Dict<string>),
    'content-length': String(length),
  });
}

/** Half of the body that was promised, then the end of the connection. An empty body is promised a byte that never comes. */
function truncated(context: FaultContext): void {
  const { response, socket, answer } = context;
  const body = Buffer.from(answer.body);
  writeHead(context, Math.max(body.length, 1));
  response.write(body.subarray(0, body.length >> 1), () => socket.destroySoon());
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A whole answer whose JSON is not: its last character is missing, or one too many where that would parse. */
function malformed(context: FaultContext): void {
  const whole = Buffer.from(context.answer.body);
  const cut = whole.subarray(0, -1);
  const body = parses(cut.toString()) ? Buffer.concat([whole, Buffer.from('}')]) : cut;
  writeHead(context, body.length);
  context.response.end(body);
}

/**
 * A status line without a status, the same for the same request. It begins as one and it ends, since some clients take
 * other bytes for an answer in HTTP/0.9, and bytes without a line end for no answer at all.
 */
function garbage({ socket, garbage }: FaultContext): void {
  const line = `HTTP/1.1 ${String.fromCharCode(...garbage)}\r\n\r\n`;
  socket.write(line, 'latin1', () => socket.destroySoon());
}

/** The whole answer, so many bytes a second, for as long as the client reads. */
async function slow(context: FaultContext, bytesPerSecond: number): Promise<void> {
  const { response, socket, answer, wait } = context;
  const body = Buffer.from(answer.body);
  const chunk = Math.max(1, Math.round((bytesPerSecond * SLOW_BEAT_MS) / 1000));
  const beatMs = (chunk / bytesPerSecond) * 1000;
  writeHead(context, body.length);
  response.flushHeaders();
  for (let sent = 0; sent < body.length; sent += chunk) {
    const how = await wait(beatMs);
    if (how === 'left') return;
    if (how === 'reset' || how === 'ended') {
      // the rest at once; its head did not say that the connection ends with it, so only the end of all ends that too
      response.end(body.subarray(sent), how === 'ended' ? () => socket.destroySoon() : undefined);
      return;
    }
    response.write(body.subarray(sent, sent + chunk));
  }
  response.end();
}

/** Breaks a connection as a rule orders. From here on, nothing else may write to the response. */
export async function breakWire(fault: Fault, context: FaultContext): Promise<void> {
  const { response, socket } = context;
  response.once('error', () => socket.destroy()); // nobody else listens to a response that Fastify gave away
  switch (fault.kind) {
    case 'connection-reset':
      socket.resetAndDestroy();
      return;
    case 'empty-response':
      socket.destroySoon();
      return;
    case 'truncated-body':
      return truncated(context);
    case 'malformed-json':
      return malformed(context);
    case 'garbage':
      return garbage(context);
    case 'hang':
      await context.wait(fault.forMs);
      socket.destroySoon();
      return;
    case 'slow-body':
      return slow(context, fault.bytesPerSecond);
  }
}
