// SPDX-License-Identifier: Apache-2.0

// The records that the page keeps, and the rows that it shows of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostRecords, Store, View } from '../../Sources/CPintlePage/page/assets/store.js';

const record = id => ({ id: String(id) });
const records = (from, to) => Array.from({ length: from - to + 1 }, (_, index) => record(from - index));
const rows = view => Array.from({ length: view.count }, (_, row) => Number(view.store.at(view.number(row)).id));

function kept(from, to, matches) {
  const store = new Store();
  store.prepend(records(to, from));
  const view = new View(store);
  view.reset(matches);
  view.update();
  while (view.scan(Infinity));
  return { store, view };
}

test('rows are newest first', () => {
  const { store, view } = kept(1, 5);
  store.append(record(6), 1);
  assert.equal(store.append(record(6), 1), false);
  view.update();
  assert.deepEqual(rows(view), [6, 5, 4, 3, 2, 1]);
});

test('a filter takes old and new records', () => {
  const { store, view } = kept(1, 6, ({ id }) => id % 2 === 0);
  store.append(record(7), 1);
  store.append(record(8), 1);
  view.update();
  assert.deepEqual(rows(view), [8, 6, 4, 2]);
  assert.equal(view.row(store.numberOf('4')), 2);
  assert.equal(view.row(store.numberOf('7')), -1);
});

test('a view that holds shows the same rows while others come and go', () => {
  for (const matches of [undefined, ({ id }) => id % 2 === 0]) {
    const { store, view } = kept(1, 6, matches);
    const before = rows(view);
    view.holds = true;
    for (let id = 7; id <= 10; id += 1) store.append(record(id), 1);
    view.update();
    assert.deepEqual(rows(view), before);
    assert.equal(view.held, matches ? 2 : 4);
    view.release();
    assert.equal(rows(view)[0], 10);
  }
});

test('the oldest go first, by their number and by their size', () => {
  const { store, view } = kept(1, 10);
  for (let id = 11; id <= mostRecords + 20; id += 1) store.append(record(id), 1);
  view.update();
  assert.equal(store.count, mostRecords);
  assert.equal(store.at(view.number(view.count - 1)).id, '21');
  assert.equal(store.numberOf('20'), undefined);
  store.append(record('large'), 2 ** 26 - 5);
  view.update();
  assert.ok(store.count < 10);
});

test('what was lost goes where it belongs, and moves no held row', () => {
  const { store, view } = kept(1, 4);
  view.holds = true;
  store.append(record(8), 1);
  view.update();
  const since = store.next;
  store.append(record(9), 1);
  view.update();
  view.rebuild(() => store.insert(records(8, 3), since));
  assert.deepEqual(rows(view), [4, 3, 2, 1]);
  assert.equal(view.held, 5);
  view.release();
  assert.deepEqual(rows(view), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
});
