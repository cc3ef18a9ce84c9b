/** One answer as it stood on the wire. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const HEAD = /^HTTP\/1\.1 ([1-5]\d\d) [^\r\n]*\r\n((?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [^\r\n]*\r\n)*)\r\n/;

function headersOf(text: string): Record<string, string> {
  const lines = text.split('\r\n').slice(0, -1);
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
    }),
  );
}

/** The body that stands in chunks from `at` on, and where it ends; null for one that is not whole. */
function chunked(text: string, at: number): { readonly body: string; readonly end: number } | null {
  let body = '';
  for (let from = at; ;) {
    const [line, size] = /^([0-9a-f]+)\r\n/i.exec(text.slice(from, from + 20)) ?? [];
    if (line === undefined || size === undefined) return null;
    const length = Number.parseInt(size, 16);
    const start = from + line.length;
    if (text.length < start + length + 2) return null;
    body += text.slice(start, start + length);
    from = start + length + 2;
    if (length === 0) return { body, end: from };
  }
}

/**
 * Reads all answers of a connection that has ended, and fails for a byte that belongs to none.
 *
 * @param isCut whether the last of them may be cut off, since the client itself has ended the connection
 * @param hasHead whether answers may have no body, since HEAD was asked for
 */
export function answersIn(bytes: Buffer, isCut = false, hasHead = false): readonly HttpAnswer[] {
  const text = bytes.toString('latin1');
  const answers: HttpAnswer[] = [];
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const [head, status, lines] = HEAD.exec(rest) ?? [];
    if (head === undefined) {
      if (isCut && !rest.includes('\r\n\r\n')) return answers;
      throw new Error(`no HTTP: ${JSON.stringify(rest.slice(0, 200))}`);
    }
    const headers = headersOf(lines!);
    at += head.length;
    const after = text.slice(at, at + 9);
    const isBodiless =
      status === '304' || status!.startsWith('1') || (hasHead && ['', 'HTTP/1.1 '].includes(after));
    if (status!.startsWith('1')) continue;
    let body = '';
    if (!isBodiless && headers['transfer-encoding'] === 'chunked') {
      const whole = chunked(text, at);
      if (whole === null && isCut) return answers;
      if (whole === null)
        throw new Error(`an answer that is not whole: ${JSON.stringify(rest.slice(0, 200))}`);
      body = whole.body;
      at = whole.end;
    } else if (!isBodiless) {
      const length = Number(headers['content-length'] ?? 0);
      body = text.slice(at, at + length);
      if (body.length < length && isCut) return answers;
      if (body.length < length)
        throw new Error(`an answer that is not whole: ${JSON.stringify(rest.slice(0, 200))}`);
      at += length;
    }
    answers.push({ status: Number(status), headers, body: Buffer.from(body, 'latin1').toString('utf8') });
  }
  return answers;
}
