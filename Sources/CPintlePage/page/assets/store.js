// SPDX-License-Identifier: Apache-2.0

// The records that this page keeps, and the view of those that a filter takes.

/** The most records that are kept, and the most characters of them; the oldest go first. */
export const mostRecords = 50_000;
const mostCharacters = 64 * 2 ** 20;

/** Records in the order in which exchanges ended. Each has a number that it keeps for as long as it is here. */
export class Store {
  constructor() { this.clear(); }

  clear() {
    this.records = [];
    this.first = 0;
    this.ids = new Map();
    this.characters = 0;
  }

  get count() { return this.records.length; }
  /** The number that the next record gets. */
  get next() { return this.first + this.records.length; }

  at(number) { return this.records[number - this.first]?.record; }
  numberOf(id) { return this.ids.get(id); }

  /** Adds the newest record. Returns false if it is here already. */
  append(record, weight) {
    if (this.ids.has(record.id)) return false;
    this.ids.set(record.id, this.next);
    this.records.push({ record, weight });
    this.characters += weight;
    return true;
  }

  /** Adds older records, newest first; numbers may be negative. Returns false if there is no room for all. */
  prepend(records) {
    const added = [];
    let hasRoom = true;
    for (const record of records) {
      if (this.ids.has(record.id)) continue;
      const weight = JSON.stringify(record).length;
      hasRoom = this.count + added.length < mostRecords && this.characters + weight <= mostCharacters;
      if (!hasRoom) break;
      this.ids.set(record.id, this.first - added.length - 1);
      added.push({ record, weight });
      this.characters += weight;
    }
    this.first -= added.length;
    this.records = added.reverse().concat(this.records);
    return hasRoom;
  }

  /** Puts a run of records, newest first, above those that are older than its last known one, and below those since a number. */
  insert(fresh, since) {
    const ids = new Set(fresh.map(record => record.id));
    const oldest = fresh.findLast(record => this.ids.has(record.id));
    const start = (oldest ? this.ids.get(oldest.id) : since) - this.first;
    const others = (from, to) => this.records.slice(Math.max(0, from), Math.max(0, to)).filter(({ record }) => !ids.has(record.id));
    const run = fresh.toReversed().map(record => this.records[this.ids.get(record.id) - this.first] ?? { record, weight: JSON.stringify(record).length });
    this.records = [...others(0, start), ...run, ...others(Math.max(start, since - this.first), this.count)];
    this.ids = new Map(this.records.map(({ record }, index) => [record.id, this.first + index]));
    this.characters = this.records.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Drops the oldest records beyond the bounds: once a frame, as it moves all others. */
  trim() {
    let dropped = 0;
    while (this.count - dropped > mostRecords || this.characters > mostCharacters && dropped < this.count) {
      const { record, weight } = this.records[dropped++];
      this.ids.delete(record.id);
      this.characters -= weight;
    }
    if (dropped === 0) return;
    this.records.splice(0, dropped);
    this.first += dropped;
  }
}

/**
 * The records that a filter takes, newest first. A new filter reads the kept ones in slices, from the newest on.
 *
 * `held` is the number of newest rows that are not shown: what comes at the top must not push away what somebody reads further down.
 */
export class View {
  constructor(store) {
    this.store = store;
    this.reset(undefined);
  }

  /** @param matches - a function of a record; undefined takes every one, without a list of its own. */
  reset(matches) {
    this.matches = matches;
    /** Numbers of taken records: those since the filter was set, rising, and those before, falling. */
    this.newer = [];
    this.older = [];
    this.held = 0;
    this.holds = false;
    this.oldestRead = this.store.next;
    this.end = this.store.next;
  }

  get isComplete() { return !this.matches || this.oldestRead <= this.store.first; }
  get all() { return this.matches ? this.newer.length + this.older.length : this.store.count; }
  get count() { return Math.max(0, this.all - this.held); }

  /** The number of the record in a row. */
  number(row) {
    const index = row + this.held;
    if (!this.matches) return this.store.next - 1 - index;
    return index < this.newer.length ? this.newer[this.newer.length - 1 - index] : this.older[index - this.newer.length];
  }

  /** The row of a record, or -1. */
  row(number) {
    if (number === undefined) return -1;
    let [low, high] = [0, this.count - 1];
    while (low <= high) {
      const middle = low + high >> 1;
      const found = this.number(middle);
      if (found === number) return middle;
      if (found > number) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  release() {
    this.holds = false;
    this.held = 0;
  }

  /** Changes the order of the store, and has the same row at the top afterwards. */
  rebuild(change) {
    const top = this.holds && this.count > 0 ? this.store.at(this.number(0)) : undefined;
    change();
    this.reset(this.matches);
    if (!top) return;
    this.holds = true;
    while (this.scan(Infinity));
    this.held = Math.max(0, this.row(this.store.numberOf(top.id)));
  }

  /** Takes in what the store has got and lost since the last call. */
  update() {
    const before = this.all;
    if (this.matches) {
      for (; this.end < this.store.next; this.end += 1) {
        const record = this.store.at(this.end);
        if (record && this.matches(record)) this.newer.push(this.end);
      }
    }
    if (this.holds) this.held += this.matches ? this.all - before : this.store.next - this.end;
    this.end = this.store.next;
    this.store.trim();
    if (this.matches) this.forget();
    // Everything that was read has gone by: there is nothing left to hold on to.
    if (this.held >= this.all) this.release();
  }

  forget() {
    const { first } = this.store;
    while (this.older.length && this.older.at(-1) < first) this.older.pop();
    if (this.older.length) return;
    let gone = 0;
    while (gone < this.newer.length && this.newer[gone] < first) gone += 1;
    if (gone) this.newer.splice(0, gone);
  }

  /** Reads older records until the time is up. Returns true if there are more. */
  scan(until) {
    while (!this.isComplete) {
      for (let count = 0; count < 200 && !this.isComplete; count += 1) {
        this.oldestRead -= 1;
        const record = this.store.at(this.oldestRead);
        if (record && this.matches(record)) this.older.push(this.oldestRead);
      }
      if (performance.now() >= until) break;
    }
    return !this.isComplete;
  }
}
