/** One response, as it was received. */
export interface HttpResponse {
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

/** The chunked body that starts at `at`, and where it ends; null for an incomplete one. */
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
 * Parses all responses of a closed connection, and fails for bytes that belong to none.
 *
 * @param isCut whether the last response may be incomplete, since the client closed the connection
 * @param hasHead whether responses may lack a body, since a request was HEAD
 */
export function answersIn(bytes: Buffer, isCut = false, hasHead = false): readonly HttpResponse[] {
  const text = bytes.toString('latin1');
  const answers: HttpResponse[] = [];
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
      if (whole === null) throw new Error(`an incomplete response: ${JSON.stringify(rest.slice(0, 200))}`);
      body = whole.body;
      at = whole.end;
    } else if (!isBodiless) {
      const length = Number(headers['content-length'] ?? 0);
      body = text.slice(at, at + length);
      if (body.length < length && isCut) return answers;
      if (body.length < length)
        throw new Error(`an incomplete response: ${JSON.stringify(rest.slice(0, 200))}`);
      at += length;
    }
    answers.push({ status: Number(status), headers, body: Buffer.from(body, 'latin1').toString('utf8') });
  }
  return answers;
}
