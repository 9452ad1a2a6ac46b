// SPDX-License-Identifier: Apache-2.0

// Fills the store: from the list of the endpoint once, from its events from then on.

import { exchanges } from './api.js';
import { mostRecords } from './store.js';

const pageSize = 1000;
const pause = milliseconds => new Promise(done => { setTimeout(done, milliseconds); });

export class List {
  /** @param actions - `changed()` after records came; `failed(error)`. */
  constructor(store, view, actions) {
    this.store = store;
    this.view = view;
    this.actions = actions;
    this.filter = '';
    this.abort = new AbortController();
    this.isLoading = false;
  }

  /** Begins anew with the records that the server's filter takes; an empty one takes all. */
  async load(filter) {
    this.abort.abort();
    this.abort = new AbortController();
    this.filter = filter;
    this.missed = undefined;
    await this.reading(signal => this.fetchAll(signal));
    if (this.missed !== undefined) this.recover(0);
  }

  async fetchAll(signal) {
    // A small page first: the screen is full at once, and the rest comes behind it.
    let page = await exchanges({ limit: 200, filter: this.filter }, signal);
    while (!signal.aborted) {
      const hasRoom = this.store.prepend(page.exchanges);
      this.actions.changed();
      const last = page.exchanges.at(-1);
      if (!page.more || !last || !hasRoom) break;
      await pause(10);
      page = await exchanges({ limit: pageSize, filter: this.filter, before: last.id }, signal);
    }
  }

  /** Fetches what the stream has lost. */
  async recover(count) {
    this.missed = (this.missed ?? 0) + count;
    while (this.missed !== undefined && !this.isLoading) {
      const { missed } = this;
      this.missed = undefined;
      await this.reading(signal => this.fetchMissed(missed, signal));
    }
  }

  /** Fetches pages from the newest on, until they reach what is known and have as many new records as are missed. */
  async fetchMissed(missed, signal) {
    const since = this.store.next;
    const fresh = [];
    let found = 0;
    for (let before, more = true; more && fresh.length < mostRecords;) {
      const page = await exchanges({ limit: pageSize, filter: this.filter, before }, signal);
      if (page.exchanges.length === 0) break;
      found += page.exchanges.filter(record => this.store.numberOf(record.id) === undefined).length;
      fresh.push(...page.exchanges);
      before = page.exchanges.at(-1).id;
      more = page.more && (found < missed || this.store.numberOf(before) === undefined);
    }
    if (!signal.aborted && fresh.length) this.view.rebuild(() => this.store.insert(fresh, since));
  }

  async reading(action) {
    const { signal } = this.abort;
    this.isLoading = true;
    try {
      await action(signal);
    } catch (error) {
      if (!signal.aborted) this.actions.failed(error);
    }
    if (signal.aborted) return;
    this.isLoading = false;
    this.actions.changed();
  }
}
