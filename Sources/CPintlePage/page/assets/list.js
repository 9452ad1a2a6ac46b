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
    const { signal } = this.abort;
    this.filter = filter;
    this.isLoading = true;
    try {
      // A small page first: the screen is full at once, and the rest comes behind it.
      let page = await exchanges({ limit: 200, filter }, signal);
      while (!signal.aborted) {
        const hasRoom = this.store.prepend(page.exchanges);
        this.actions.changed();
        const last = page.exchanges.at(-1);
        if (!page.more || !last || !hasRoom) break;
        await pause(10);
        page = await exchanges({ limit: pageSize, filter, before: last.id }, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.actions.failed(error);
    } finally {
      if (this.abort.signal === signal) {
        this.isLoading = false;
        this.actions.changed();
      }
    }
  }

  /** Fetches what the stream has lost: pages from the newest on, until they reach what is known and have the lost ones. */
  async recover(count) {
    if (this.isLoading) return;
    this.isLoading = true;
    const { signal } = this.abort;
    const since = this.store.next;
    try {
      const fresh = [];
      let [found, before, more] = [0, undefined, true];
      while (more && fresh.length < mostRecords) {
        const page = await exchanges({ limit: pageSize, filter: this.filter, before }, signal);
        if (page.exchanges.length === 0) break;
        found += page.exchanges.filter(record => this.store.numberOf(record.id) === undefined).length;
        fresh.push(...page.exchanges);
        before = page.exchanges.at(-1).id;
        more = page.more && (found < count || this.store.numberOf(before) === undefined);
      }
      if (!signal.aborted) this.view.rebuild(() => this.store.insert(fresh, since));
      this.actions.changed();
    } catch (error) {
      if (!signal.aborted) this.actions.failed(error);
    } finally {
      if (this.abort.signal === signal) this.isLoading = false;
    }
  }
}
