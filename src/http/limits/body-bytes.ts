import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { Refusal } from '../../contract/errors.ts';

/** A longer body is a snapshot: there are few of them, and they share what they may take. */
const LONG_BYTES = 64 * 1024;
const FIRST_BYTES = 4 * 1024;
const PIECE_BYTES = 1024 * 1024;

/** A long body that is under way, and how to refuse it. */
interface LongBody {
  bytes: number;
  readonly refuse: (refusal: Refusal) => void;
}

/** The long bodies that are under way. Past what they may take together, the longest of them is refused. */
export class LongBodies {
  readonly #maxBytes: number;
  readonly #underWay = new Set<LongBody>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Says how much memory a body takes now. */
  grew(body: LongBody, bytes: number): void {
    body.bytes = bytes;
    this.#underWay.add(body);
    let total = 0;
    for (const each of this.#underWay) total += each.bytes;
    if (total <= this.#maxBytes) return;
    const longest = [...this.#underWay].reduce((a, b) => (b.bytes > a.bytes ? b : a));
    longest.refuse(new Refusal('TOO_MANY_SNAPSHOTS'));
  }

  over(body: LongBody): void {
    this.#underWay.delete(body);
  }
}

function tooLarge(limit: number): Refusal {
  return new Refusal('BODY_TOO_LARGE', { message: `The request body is larger than ${limit / 1024} KiB` });
}

/**
 * Reads a body into pieces of memory that grow with what has come: a body that is sent byte by byte takes no more than
 * any other, and one that only says that it is long takes nothing. Most bodies are one piece.
 *
 * @param done gets all of its pieces, or why there are none
 */
export function readBody(
  { headers, routeOptions: { bodyLimit } }: FastifyRequest,
  payload: Readable,
  longBodies: LongBodies,
  done: (error: Error | null, pieces: readonly Buffer[]) => void,
): void {
  const declared = Number(headers['content-length'] ?? Number.NaN); // the parser of Node holds the body against it
  if (declared > bodyLimit) return done(tooLarge(bodyLimit), []);
  const whole: Buffer[] = []; // the pieces that are full
  let piece = Buffer.allocUnsafe(Math.min(declared || FIRST_BYTES, FIRST_BYTES));
  let inPiece = 0;
  let length = 0;

  const over = (error: Error | null): void => {
    payload.off('data', take).off('end', end).off('error', left);
    longBodies.over(body);
    done(error, [...whole, piece.subarray(0, inPiece)]);
    whole.length = 0;
    piece = Buffer.alloc(0);
  };
  const body: LongBody = { bytes: 0, refuse: over };
  const end = (): void => over(null);
  const left = (): void => over(new Refusal('MALFORMED_REQUEST')); // and no fault of ours: the client is gone

  /** Makes room for at least one byte more: in a larger piece while it is small, so that little is ever copied. */
  const enlarge = (): void => {
    const rest = (declared || bodyLimit) - length;
    if (piece.length >= PIECE_BYTES) {
      whole.push(piece);
      piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, rest));
      inPiece = 0;
    } else {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(piece.length * 2, 1), inPiece + rest));
      piece.copy(larger, 0, 0, inPiece);
      piece = larger;
    }
    const bytes = whole.length * PIECE_BYTES + piece.length;
    if (bytes > LONG_BYTES) longBodies.grew(body, bytes);
  };
  const take = (chunk: Buffer): void => {
    if (length + chunk.length > bodyLimit) return over(tooLarge(bodyLimit));
    for (let from = 0; from < chunk.length;) {
      if (inPiece === piece.length) enlarge();
      const copied = chunk.copy(piece, inPiece, from);
      if (copied === 0) return; // refused meanwhile, for what all long bodies take
      from += copied;
      inPiece += copied;
      length += copied;
    }
  };
  payload.on('data', take).once('end', end).once('error', left);
}
