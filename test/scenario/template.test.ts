import { expect, test } from 'vitest';
import {
  filledBody,
  filledHeaders,
  fillingWith,
  reportUnknownNames,
  type Filling,
} from '../../src/scenario/template.ts';
import { testRows } from '../support/test-rows.ts';

const VALUES: Filling['values'] = {
  client_ref_id: 'a"b\\<c>&\n',
  amount: 1500.5,
  utr: null,
};

testRows<[body: Parameters<typeof filledBody>[0], contentType: string, text: string]>([
  ['ref {{client_ref_id}}', 'text/plain', 'ref a"b\\<c>&\n'],
  [
    '{"amount":{{amount}},"ref":"{{ client_ref_id }}"}',
    'application/problem+json',
    '{"amount":1500.5,"ref":"a\\"b\\\\<c>&\\n"}',
  ],
  ['<b>{{client_ref_id}}</b>', 'text/html; charset=utf-8', '<b>a&quot;b\\&lt;c&gt;&amp;\n</b>'],
  [
    { refs: [{ ref: 'is {{client_ref_id}}' }], n: 1 },
    'application/json',
    '{"refs":[{"ref":"is a\\"b\\\\<c>&\\n"}],"n":1}',
  ],
  [['{{client_ref_id}}'], 'text/html', '["a&quot;b\\\\&lt;c&gt;&amp;\\n"]'],
  ['[{{utr}}{{txn_id}}]', 'text/plain', '[]'],
  ['{{client_ref_id and {amount}', 'text/plain', '{{client_ref_id and {amount}'],
])('a body is filled with what the request says', (body, contentType, text) => {
  expect(filledBody(body, fillingWith(VALUES), contentType)).toBe(text);
});

test('a value that is filled in is not expanded again, and is well-formed', () => {
  const filling = fillingWith({ remarks: '{{amount}}', client_ref_id: 'a\u{D83D}', amount: 1 });
  expect(filledBody('{{remarks}} {{client_ref_id}}', filling, 'text/plain')).toBe('{{amount}} a\u{FFFD}');
});

test.each([
  [`a${'😀'.repeat(127)}`, `a${'😀'.repeat(127)}`],
  ['😀'.repeat(201), '😀'.repeat(200)],
])('a value is cut after 200 characters, never in the middle of one', (remarks, text) => {
  expect(filledBody('{{remarks}}', fillingWith({ remarks }), 'text/plain')).toBe(text);
});

test('a response has 32,768 characters of values at most, its headers and its body together', () => {
  const filling = fillingWith({ remarks: 'x'.repeat(200), amount: 5 });
  const headers = filledHeaders({ 'x-all': '{{remarks}}'.repeat(100) }, filling);
  const body = filledBody(`{{remarks}}${'{{remarks}}'.repeat(200)}.`, filling, 'text/plain');
  expect(headers['x-all']).toHaveLength(20_000);
  expect(body).toBe(`${'x'.repeat(63 * 200)}.`);
});

test('a header holds printable ASCII on one line, whatever a request says', () => {
  const headers = { 'x-ref': 'ref={{client_ref_id}}', 'x-name': '{{beneficiary_name}}', 'x-plain': '1' };
  const values = { ...VALUES, beneficiary_name: 'Aśa\r\nset-cookie: a' };
  expect(filledHeaders(headers, fillingWith(values))).toEqual({
    'x-ref': 'ref=a"b\\<c>&%0A',
    'x-name': 'A%C5%9Ba%0D%0Aset-cookie: a',
    'x-plain': '1',
  });
});

test('a name that no request has is reported with its place and the nearest name', () => {
  const problems: unknown[] = [];
  reportUnknownNames(
    {
      status: 500,
      message: 'for {{amount}}',
      headers: { 'x-ref': '{{client_ref}}' },
      body: { list: [{ text: '{{status}} {{}}' }], fine: '{{ utr }}' },
    },
    (path, message) => problems.push([path.join('.'), message]),
  );
  expect(problems).toEqual([
    ['headers.x-ref', 'names {{client_ref}}, which is not known here (did you mean client_ref_id?)'],
    [
      'body.list.0.text',
      expect.stringMatching(/^names \{\{\}\}, which is not known here \(known: client_ref_id, /),
    ],
  ]);
});
