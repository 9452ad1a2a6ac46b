// SPDX-License-Identifier: Apache-2.0

// What the page offers to paste means in a shell, or in YAML, what was on the wire.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { asCurl, asRule, asTest, hasTarget, proxyOf, shellWord, yamlText } from '../../Sources/CPintlePage/page/assets/actions.js';

const hostile = [
  '', 'plain', "it's", '$(touch /tmp/x) `id` "$HOME" !!', 'a\nrm -rf /', '\u202etxt.exe', 'tab\tback\\slash\'\u0007', '-x', '~root', 'é 😀', 'a\\x41',
];

test('a word of a shell is the text', () => {
  for (const text of hostile) {
    assert.equal(execFileSync('bash', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' }), text, JSON.stringify(text));
    assert.doesNotMatch(shellWord(text), /[\n\t\u0007\u202e]/u, 'what is pasted is what is seen');
  }
});

test('a command sends the request again', () => {
  const detail = {
    record: { method: 'POST', url: 'http://a.test/x?y=[1]' },
    request: { fields: [['Host', 'a.test'], ['Content-Length', '3'], ['X-A', "it's"], ['X-Empty', ''], ['@file', 'x'], ['Proxy-Authorization', 'x']], body: { text: '@/etc/passwd' } },
  };
  assert.equal(
    asCurl(detail, 'http://127.0.0.1:3128'),
    "curl --globoff --proxy http://127.0.0.1:3128 --request POST --header 'X-A: it'\\''s' --header 'X-Empty;' --data-raw @/etc/passwd --url 'http://a.test/x?y=[1]'");
  assert.equal(asCurl({ record: { method: 'CONNECT', url: 'a.test:443' } }), 'curl --globoff --proxytunnel https://a.test:443/');
});

test('a request without a URL is no target of a command or a test', () => {
  assert.equal(hasTarget({ method: 'OPTIONS' }), false);
  assert.equal(hasTarget({ method: 'GET', url: '' }), false);
  assert.equal(hasTarget({ method: 'GET', url: '/x', host: 'a.test' }), true);
  assert.equal(hasTarget({ method: 'CONNECT', host: 'a.test:443' }), true);
});

test('a command has the method of the request, whatever curl would make of its body', () => {
  const command = (method, body) => asCurl({ record: { method, url: 'http://a.test/' }, request: { fields: [], body } });
  assert.equal(command('GET', { text: '{}' }), "curl --globoff --request GET --data-raw '{}' --url http://a.test/");
  assert.equal(command('GET'), 'curl --globoff --url http://a.test/');
  assert.equal(command('GET', { text: '' }), 'curl --globoff --url http://a.test/');
  assert.equal(command('POST', { text: '' }), "curl --globoff --request POST --data-raw '' --url http://a.test/");
  // curl takes no data beside --head.
  assert.equal(command('HEAD', { text: 'x' }), 'curl --globoff --head --url http://a.test/');
});

test('a command for the gateway asks the listener itself', () => {
  const detail = { record: { method: 'GET', mode: 'gateway', url: '/x?y=1', host: 'shop.test:8080' }, request: { fields: [['Host', 'shop.test:8080']] } };
  assert.equal(
    asCurl(detail, 'https://127.0.0.1:8443'),
    "curl --globoff --header 'Host: shop.test:8080' --url 'https://127.0.0.1:8443/x?y=1'");
  assert.equal(asCurl(detail), "curl --globoff --url 'http://shop.test:8080/x?y=1'");
});

test('the proxy of a command is the first listener that a client can name', () => {
  globalThis.location = { hostname: 'localhost' };
  const proxy = (...listeners) => proxyOf({ listeners });
  assert.equal(proxy('127.0.0.1:3128', 'https://127.0.0.1:8443'), 'http://127.0.0.1:3128');
  assert.equal(proxy('https://[::1]:8443'), 'https://[::1]:8443');
  assert.equal(proxy('unix:/run/pintle/proxy', 'capture://127.0.0.1:3130', '0.0.0.0:3128'), 'http://localhost:3128');
  assert.equal(proxy('[::]:3128'), 'http://localhost:3128');
  assert.equal(proxy('unix:/run/pintle/proxy:80'), undefined);
  assert.equal(proxyOf(undefined), undefined);
});

test('text of YAML is the text', () => {
  for (const text of [...hostile, '\0', '\u2028', '\u0085', '\ud800']) {
    assert.equal(JSON.parse(yamlText(text)), text);
    assert.match(yamlText(text), /^"[^\n\u0085\u2028\u202e]*"$/u);
  }
});

test('a test holds the decision', () => {
  const text = asTest({
    record: { method: 'GET', url: 'http://x.ads.test/', host: 'x.ads.test:80', decision: 'deny', rule: 'destinations.deny[0]', status: 403 },
    request: { fields: [['Accept', '*/*'], ['Cookie', '***']] },
  });
  assert.equal(text, [
    '- name: "GET x.ads.test:80 is denied"',
    '  request: {method: GET, url: "http://x.ads.test/", headers: {Accept: "*/*"}}',
    '  expect: {decision: deny, rule: "destinations.deny[0]", route: absent, problem: destination-denied}',
    '',
  ].join('\n'));
  const named = asTest({ record: { method: 'GET', url: 'http://a.test/', host: 'a.test:80', user: 'alice', tag: 'ci', decision: 'allow' }, request: { fields: [['Proxy-Authorization', 'Basic x']] } });
  assert.match(named, /request: \{method: GET, url: "http:\/\/a.test\/", client: \{user: "alice", tag: "ci"\}\}\n/);
  const gateway = asTest({ record: { method: 'GET', url: '/x', host: 'localhost:8080', route: 'api', decision: 'allow' }, request: { fields: [['Host', 'localhost:8080']] } });
  assert.match(gateway, /request: \{method: GET, url: "\/x", headers: \{Host: "localhost:8080"\}\}\n {2}expect: \{decision: allow, route: api\}/);
  const unpinned = asTest({ record: { method: 'GET', url: 'https://a.test/', host: 'a.test:443', route: 'api', decision: 'reject', violations: ['pin-mismatch'] } });
  assert.match(unpinned, /expect: \{route: api\}\n$/);
  const rejected = asTest({
    record: { method: 'POST', url: 'http://a.test/', host: 'a.test:80', route: 'api', decision: 'reject', upstream_status: 200, status: 502, violations: ['response-content-type'] },
    request: { fields: [], body: { text: '{"amount": 1}' } },
    response: { fields: [['content-type', 'text/html']] },
  });
  assert.match(rejected, /json: \{"amount":1\}/);
  assert.match(rejected, /\n {2}response: \{status: 200, headers: \{Content-Type: "text\/html"\}\}\n {2}violations: \[response-content-type\]\n$/);
});

test('a test expects nothing that the content of a response has decided, or a type that it lacks', () => {
  const text = (violations, fields) => asTest({
    record: { method: 'GET', url: 'http://a.test/', host: 'a.test:80', route: 'api', decision: 'reject', upstream_status: 404, status: 502, violations },
    response: { fields },
  });
  for (const kind of ['response-body', 'body-too-large', 'response-content-type']) {
    assert.match(text([kind], []), /\n {2}expect: \{route: api\}\n$/, kind);
    assert.match(text(['response-status', kind], []), /\n {2}expect: \{route: api\}\n$/, kind);
  }
  assert.match(text(['response-status'], []), /expect: \{decision: reject, route: api\}\n {2}response: \{status: 404\}\n {2}violations: \[response-status\]\n$/);
  assert.match(text(['response-status', 'response-content-type'], [['Content-Type', 'text/html']]), /violations: \[response-status, response-content-type\]\n$/);
});

test('a rule is a line of the configuration', () => {
  assert.equal(asRule({ host: 'a.test:80' }, 'deny'), 'destinations: {deny: ["a.test:80"]}\n');
});
