import { escapeControls } from './log-line.ts';

type Line = Readonly<Record<string, unknown>>;

const NOISE = new Set(['level', 'time', 'msg', 'err']);

const named = (name: string, value: unknown): string | false =>
  typeof value === 'string' && `${name} ${value}`;

/** The result of a request: `200 initiate order-1 TXN4058… 1.2 ms`, and the reason. */
const request = (line: Line): readonly unknown[] => [
  line['status'] ?? line['fault'] ?? 'no response',
  line['route'] ??
    (typeof line['path'] === 'string' ? `${String(line['method'])} ${line['path']}` : 'no request'),
  line['client_ref_id'],
  line['txn_id'],
  line['code'],
  line['replayed'] === true && 'replayed',
  named('rule', line['rule']),
  line['committed'] === true && 'committed',
  line['committed'] === false && 'not committed',
  named('limit', line['limit']),
  line['client_gone'] === true && 'client gone',
  typeof line['duration_ms'] === 'number' && `${line['duration_ms']} ms`,
  named('world', line['world']),
  Array.isArray(line['warnings']) && `warning: ${line['warnings'].join('; ')}`,
];

const settlement = (line: Line): readonly unknown[] => [
  line['from'] === line['to'] ? line['to'] : `${String(line['from'])} → ${String(line['to'])}`,
  line['client_ref_id'],
  line['txn_id'],
  named('UTR', line['utr']),
  named('world', line['world']),
];

const anything = (line: Line): readonly unknown[] => [
  line['msg'],
  ...Object.entries(line)
    .filter(([key]) => !NOISE.has(key))
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`),
];

function factsOf(line: Line): readonly unknown[] {
  if (line['msg'] === 'request') return request(line);
  return line['msg'] === 'settlement' ? settlement(line) : anything(line);
}

/** A line of the log for people: the same facts, without their field names. */
export function readableLine(line: Line): string {
  const facts = factsOf(line).filter((fact) => fact !== undefined && fact !== false && fact !== '');
  const text = facts.map((fact) => escapeControls(String(fact))).join('  ');
  const { stack } = (line['err'] ?? {}) as { readonly stack?: string };
  if (stack === undefined || line['msg'] === 'request') return text;
  return `${text}  ${stack.split('\n').map(escapeControls).join('\n')}`;
}
