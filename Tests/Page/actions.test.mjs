// SPDX-License-Identifier: Apache-2.0

// What the page offers to paste means in a shell, or in YAML, what was on the wire.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { asCurl, asRule, asTest, hasTarget, lacksContent, proxyOf, shellWord, yamlText } from '../../Sources/CPintlePage/page/assets/actions.js';

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
    request: { fields: [['Host', 'a.test'], ['Content-Length', '3'], ['X-A', "it's"], ['X-Empty', ''], ['@file', 'x'], ['Proxy-Authorization', 'x'],
      ['User-Agent', 'me'], ['Accept', '*/*'], ['Content-Type', 'text/plain']], body: { text: '@/etc/passwd' } },
  };
  assert.equal(
    asCurl(detail, 'http://127.0.0.1:3128'),
    "curl --globoff --proxy http://127.0.0.1:3128 --request POST --header 'X-A: it'\\''s' --header 'X-Empty;' --header 'User-Agent: me' --header 'Accept: */*' --header 'Content-Type: text/plain' --data-raw @/etc/passwd --url 'http://a.test/x?y=[1]'");
  assert.equal(asCurl({ record: { method: 'CONNECT', url: 'a.test:443' } }), 'curl --globoff --proxytunnel https://a.test:443/');
});

test('a command sends no field that the request had not', () => {
  const command = (fields, body) => asCurl({ record: { method: 'PUT', url: 'http://a.test/' }, request: { fields, body } });
  assert.equal(command([]), 'curl --globoff --request PUT --header User-Agent: --header Accept: --url http://a.test/');
  assert.equal(
    command([['user-agent', 'me'], ['ACCEPT', '*/*']], { text: '{}' }),
    "curl --globoff --request PUT --header 'user-agent: me' --header 'ACCEPT: */*' --header Content-Type: --data-raw '{}' --url http://a.test/");
});

test('a command asks for the path as it was', () => {
  const command = url => asCurl({ record: { method: 'GET', url } });
  for (const url of ['http://a.test/x/../y', 'http://a.test/.', 'http://a.test/%2E%2e?q']) {
    assert.equal(command(url), `curl --globoff --path-as-is --url ${shellWord(url)}`);
  }
  for (const url of ['http://a.test/x..y/.well-known/...', 'http://a.test/x.']) assert.equal(command(url), `curl --globoff --url ${url}`);
});

test('a command has content that is no text, or too long for a word, by a pipe', () => {
  const sent = body => {
    const command = asCurl({ record: { method: 'POST', url: 'http://a.test/' }, request: { body } });
    assert.match(command, / \| curl --globoff --request POST --data-binary @- --url http:\/\/a.test\/$/);
    return execFileSync('bash', ['-c', command.replace(/\| curl .*/, '')]).toString('base64');
  };
  assert.equal(sent({ base64: '/wD+' }), '/wD+');
  assert.equal(sent({ text: 'a\0é😀' }), Buffer.from('a\0é😀').toString('base64'));
  assert.equal(sent({ text: 'é'.repeat(40_000) }), Buffer.from('é'.repeat(40_000)).toString('base64'));
});

test('a command has no coding for content that was kept without it', () => {
  const command = body => asCurl({ record: { method: 'POST', url: 'http://a.test/' }, request: { fields: [['Accept', '*/*'], ['User-Agent', 'me'], ['Content-Type', 'a/b'], ['Content-Encoding', 'gzip']], body } });
  assert.doesNotMatch(command({ text: '{}' }), /gzip/);
  assert.match(command(undefined), /gzip/);
});

test('a command lacks content that was not kept whole, and it is known', () => {
  const lacks = (bytes, body, method = 'POST') => lacksContent({ record: { method, bytes_in: bytes }, request: { fields: [], body } });
  assert.equal(lacks(3, { text: 'abc' }), false);
  assert.equal(lacks(3, { text: 'ab', truncated: true }), true);
  assert.equal(lacks(3, undefined), true);
  assert.equal(lacks(undefined, undefined), false);
  assert.equal(lacks(300, undefined, 'CONNECT'), false);
});

test('a command is of the same client', () => {
  const command = record => asCurl({ record: { method: 'GET', url: 'http://a.test/', ...record } }, 'http://127.0.0.1:3128');
  assert.match(command({ tag: 'suite-42' }), /^curl --globoff --proxy http:\/\/127.0.0.1:3128 --proxy-user suite-42: --url/);
  // curl asks for the password.
  assert.match(command({ user: 'alice', tag: 'ci' }), / --proxy-user alice\+ci --url/);
  assert.match(command({ user: 'alice', method: 'CONNECT', host: 'a.test:443', url: undefined }), / --proxy-user alice --proxytunnel https:\/\/a.test:443\/$/);
});

test('a request without a URL is no target of a command or a test', () => {
  assert.equal(hasTarget({ method: 'OPTIONS' }), false);
  assert.equal(hasTarget({ method: 'GET', url: '' }), false);
  assert.equal(hasTarget({ method: 'GET', url: '/x', host: 'a.test' }), true);
  assert.equal(hasTarget({ method: 'CONNECT', host: 'a.test:443' }), true);
});

test('a command has the method of the request, whatever curl would make of its body', () => {
  const command = (method, body) => asCurl({ record: { method, url: 'http://a.test/' }, request: { body } });
  assert.equal(command('GET', { text: '{}' }), "curl --globoff --request GET --data-raw '{}' --url http://a.test/");
  assert.equal(command('GET'), 'curl --globoff --url http://a.test/');
  assert.equal(command('GET', { text: '' }), 'curl --globoff --url http://a.test/');
  assert.equal(command('POST', { text: '' }), "curl --globoff --request POST --data-raw '' --url http://a.test/");
  // curl takes no data beside --head.
  assert.equal(command('HEAD', { text: 'x' }), 'curl --globoff --head --url http://a.test/');
});

test('a command for the gateway asks the listener itself', () => {
  const detail = { record: { method: 'GET', mode: 'gateway', url: '/x?y=1', host: 'shop.test:8080' }, request: { fields: [['Host', 'shop.test:8080'], ['User-Agent', 'me'], ['Accept', '*/*']] } };
  assert.equal(
    asCurl(detail, 'https://127.0.0.1:8443'),
    "curl --globoff --header 'Host: shop.test:8080' --header 'User-Agent: me' --header 'Accept: */*' --url 'https://127.0.0.1:8443/x?y=1'");
  assert.equal(asCurl(detail), "curl --globoff --header 'User-Agent: me' --header 'Accept: */*' --url 'http://shop.test:8080/x?y=1'");
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
    '- name: "GET http://x.ads.test/ is denied"',
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
  const unseen = asTest({ record: { method: 'POST', url: 'http://a.test/' }, request: { fields: [], body: { text: '{"a": "\u2028\u0085"}' } } });
  assert.match(unseen, /json: \{"a":"\\u2028\\u0085"\}/);
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
