import { REFUSALS, type RefusalCode } from '../../contract/errors.ts';

/** Requests that reached a sandbox but none of its worlds, as its log has them: what came, and why it was refused. */

const MOST_KINDS = 3;

/** The parts of a log line that say what was refused. Lines that are not about a request have no status. */
interface LogLine extends Partial<Record<'method' | 'route' | 'path', string>> {
  readonly status?: number;
  readonly code?: RefusalCode;
}

/** A destination of log lines that keeps only how many requests of each kind were refused. */
export class RefusedLog {
  readonly #kinds = new Map<string, number>();

  write(line: string): void {
    if (line.includes('"world":')) return;
    const { method, route, path, status, code } = JSON.parse(line) as LogLine;
    if (status === undefined || status < 400) return;
    const why = code === undefined ? '' : ` ${code}: ${REFUSALS[code].message}`;
    const kind = `${method} ${route ?? path} got ${status}${why}`;
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  /** What was refused, in a sentence; empty if nothing was. */
  get text(): string {
    const kinds = [...this.#kinds]
      .slice(0, MOST_KINDS)
      .map(([kind, count]) => (count > 1 ? `${count} × ${kind}` : kind));
    return kinds.join('; ');
  }
}
