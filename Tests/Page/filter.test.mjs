// SPDX-License-Identifier: Apache-2.0

// The page reads filters as the program does: `node --test Tests/Page/`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FilterFault, longest, parseFilter } from '../../Sources/CPintlePage/page/assets/filter.js';

const vectors = JSON.parse(readFileSync(new URL('../Vectors/filters.json', import.meta.url), 'utf8'));

function faultOf(source) {
  try {
    parseFilter(source);
  } catch (error) {
    if (error instanceof FilterFault) return error;
    throw error;
  }
  return undefined;
}

for (const { filter, matches } of vectors.filters) {
  test(`takes ${JSON.stringify(filter)}`, () => {
    const parsed = parseFilter(filter);
    assert.deepEqual(vectors.exchanges.filter(parsed.matches).map(exchange => exchange.id), matches);
  });
}

for (const { filter, at, says } of vectors.faults) {
  test(`refuses ${JSON.stringify(filter)}`, () => {
    const fault = faultOf(filter);
    assert.ok(fault, 'there is no fault');
    assert.equal(fault.position, at);
    assert.ok(fault.message.includes(says), fault.message);
  });
}

test('leaves to the server what records do not have, and regular expressions', () => {
  for (const filter of ['~h x', '~d a | !~websocket', '~u /a/', '/a/', '(~c 200 ~ts json)']) {
    assert.ok(parseFilter(filter).needsServer, filter);
  }
  for (const filter of ['', '~c 200', 'orders ~slow 1s', '~v pin-mismatch']) {
    assert.ok(!parseFilter(filter).needsServer, filter);
  }
});

test('counts places in Unicode scalars', () => {
  assert.equal(faultOf('😀 ~x')?.position, 2);
  assert.equal(faultOf('x'.repeat(longest + 1))?.position, longest);
  assert.equal(faultOf('😀'.repeat(longest)), undefined);
});

test('bounds the nesting', () => {
  assert.equal(faultOf('('.repeat(63) + '~q' + ')'.repeat(63)), undefined);
  assert.equal(faultOf('!'.repeat(64) + '~q')?.position, 64);
});

test('takes the regular expressions that the program takes', () => {
  const takes = (filter, url) => parseFilter(filter).matches({ url });
  assert.ok(takes('~u /a{b}/', 'a{b}'));
  assert.ok(takes(String.raw`~u /a\-b\_c\ d/`, 'a-b_c d'));
  assert.ok(takes(String.raw`~u /[\-x]{2}\u{61}/`, 'x-a'));
  assert.ok(takes(String.raw`~u /\p{Lu}\d{2,3}/`, 'É12'));
  assert.ok(takes(String.raw`~u "/[[]x]/"`, '/[[]x]/'));
  assert.equal(faultOf('~u /(?i:x)/')?.position, 3);
  assert.equal(faultOf('~u /x**/')?.position, 3);
});

test('compares text as the program does', () => {
  const takes = (filter, url) => parseFilter(filter).matches({ url });
  assert.ok(takes('ΟΔΟΣ', 'http://ΟΔΟΣ.example/'));
  assert.ok(takes('caf\u00e9', 'CAFE\u0301'));
});

test('spells values as the configuration does', () => {
  assert.match(faultOf('~slow 366d').message, /must be from 0s to 365d/);
  assert.match(faultOf('~big 1048577GiB').message, /must be from 0 to 1048576GiB/);
  assert.match(faultOf('~slow 99999999999999999999s').message, /must be a duration/);
  assert.equal(faultOf('~slow 365d'), undefined);
  assert.match(faultOf('~c 500-400').message, /must be a status/);
});
