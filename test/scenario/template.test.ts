import { expect, test } from 'vitest';
import {
  filledBody,
  filledHeaders,
  reportUnknownNames,
  type TemplateValues,
} from '../../src/scenario/template.ts';
import { testRows } from '../support/test-rows.ts';

const VALUES: TemplateValues = {
  client_ref_id: 'a"b\\<c>&\n',
  remarks: 'é'.repeat(300),
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
  ['{{remarks}}', 'text/plain', 'é'.repeat(200)],
])('a body is filled with what the request says', (body, contentType, text) => {
  expect(filledBody(body, VALUES, contentType)).toBe(text);
});

test('a value that is filled in is not expanded again, and is well-formed even if it was cut', () => {
  const values = { remarks: '{{amount}}', client_ref_id: `${'a'.repeat(199)}😀`, amount: 1 };
  expect(filledBody('{{remarks}} {{client_ref_id}}', values, 'text/plain')).toBe(
    `{{amount}} ${'a'.repeat(199)}\u{FFFD}`,
  );
});

test('a header holds printable ASCII on one line, whatever a request says', () => {
  const headers = { 'x-ref': 'ref={{client_ref_id}}', 'x-name': '{{beneficiary_name}}', 'x-plain': '1' };
  const values = { ...VALUES, beneficiary_name: 'Aśa\r\nset-cookie: a' };
  expect(filledHeaders(headers, values)).toEqual({
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
