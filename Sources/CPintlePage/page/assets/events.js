// SPDX-License-Identifier: Apache-2.0

// The stream of server-sent events. The browser itself comes back with Last-Event-ID after a connection breaks.

import { activity, eventsPath } from './api.js';

export class Events {
  /** @param actions - `exchange(record, characters)`, `state(word)`, and one for each other event. */
  constructor(actions) {
    this.actions = actions;
  }

  open(filter = '') {
    this.close();
    this.filter = filter;
    const source = new EventSource(eventsPath(filter));
    this.source = source;
    // A source that was replaced may still have events under way.
    const listen = (name, action) => source.addEventListener(name, event => { if (source === this.source) action(event); });
    let isBroken = false;
    listen('open', () => {
      this.actions.state('live');
      // If it broke before its first event, there was no id from which to go on.
      if (isBroken) this.actions.lost({ count: 0 });
      isBroken = false;
    });
    listen('exchange', event => this.actions.exchange(JSON.parse(event.data), event.data.length));
    for (const name of ['activity', 'lost', 'configuration', 'questions']) listen(name, event => this.actions[name](JSON.parse(event.data)));
    listen('error', () => {
      this.actions.state('connecting');
      isBroken = true;
      if (source.readyState === EventSource.CLOSED) this.retry();
    });
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
  }

  /** An answer other than a stream ends a source for good. It does not say which answer that was, so another request finds out. */
  retry() {
    this.close();
    this.timer = setTimeout(async () => {
      try {
        this.actions.activity(await activity());
        this.open(this.filter);
        // What happened meanwhile is not repeated to a new source.
        this.actions.lost({ count: Infinity });
      } catch (refusal) {
        if (refusal.status !== 401) this.retry();
      }
    }, 2000);
  }
}
