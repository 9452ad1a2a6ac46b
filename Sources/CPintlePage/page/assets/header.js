// SPDX-License-Identifier: Apache-2.0

// The header: the state of the proxy, its counters, and the button that loads the configuration again.

import { activity, reload } from './api.js';
import { byId, element, openDialog, preformatted } from './dom.js';
import { count, size, visible } from './format.js';

const states = { not_active: 'idle', delaying_start: 'starting', active: 'active', delaying_end: 'ending' };

export class Header {
  constructor() {
    this.activity = undefined;
    this.connection = 'connecting';
    byId('reload').addEventListener('click', () => this.reload());
  }

  show(value) {
    this.activity = value;
    this.isChanged = true;
  }

  setConnection(word) {
    this.connection = word;
    this.isChanged = true;
  }

  render() {
    if (!this.isChanged) return;
    this.isChanged = false;
    const { activity: value, connection } = this;
    const state = connection === 'live' ? value?.state ?? 'not_active' : connection;
    const word = { connecting: 'connecting…', 'signed-out': 'signed out' }[connection] ?? states[state] ?? visible(state, 32);
    const text = [word, connection === 'live' ? visible(value?.status ?? '', 200) : ''].filter(Boolean).join(' · ');
    const shown = byId('state');
    // A status that is written again is read out again.
    if (shown.textContent !== text) shown.textContent = text;
    shown.className = `state ${state}`;
    if (value) this.renderCounters(value);
  }

  renderCounters({ counters = {}, connections, kept, version, revision, held_bytes: held }) {
    const entries = [
      ['open', counters.active], ['done', counters.completed], ['failed', counters.failed, 'bad'], ['violations', counters.violations, 'bad'],
      ['tunnels', counters.tunnels_active], ['connections', connections], ['cache hits', counters.cache_hits],
      ['questions', counters.questions_waiting || undefined],
      ['up', size(counters.bytes_up ?? 0)], ['down', size(counters.bytes_down ?? 0)], ['held', size(held ?? 0)],
      ['kept', kept ? `${count(kept.exchanges)}, ${size(kept.bytes)}` : undefined],
      ['version', version], ['revision', revision?.slice(0, 8)],
    ].filter(([, value]) => value !== undefined);
    byId('counters').replaceChildren(...entries.map(([name, value, kind]) =>
      element('div', { class: `${name.replace(' ', '-')} ${kind && value ? kind : ''}` },
        element('dt', {}, name), element('dd', {}, typeof value === 'number' ? count(value) : visible(value, 64)))));
  }

  async reload() {
    const button = byId('reload');
    button.disabled = true;
    try {
      const result = await reload(this.activity?.revision ?? '');
      if (this.activity) this.show({ ...this.activity, revision: result.revision });
      openDialog('The configuration is loaded', element('p', {}, 'Its revision is ', element('code', {}, visible(result.revision, 80)), '.'), preformatted(result.lines));
    } catch (error) {
      const isOld = error.status === 412;
      openDialog('The configuration is not loaded',
        element('p.fault', {}, visible(error.message)),
        isOld ? element('p', {}, 'Meanwhile somebody else has loaded one. Look at it, and try again.') : '',
        preformatted(error.problem?.lines));
      if (isOld) activity().then(value => this.show(value), () => {});
    } finally {
      button.disabled = false;
    }
  }
}
