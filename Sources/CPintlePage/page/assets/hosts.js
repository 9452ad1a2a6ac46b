// SPDX-License-Identifier: Apache-2.0

// The hosts with most bytes.

import { hosts } from './api.js';
import { drawing, element, shown, table } from './dom.js';
import { count, size } from './format.js';

export async function hostsPage() {
  const { hosts: list } = await hosts();
  const bytes = host => (host.bytes_in ?? 0) + (host.bytes_out ?? 0);
  const most = Math.max(...list.map(bytes), 1);
  return [
    element('h2', {}, 'Hosts'),
    list.length === 0 ? element('p', {}, 'No host has been asked for yet.') : table('Hosts by bytes',
      ['Host', ['Share', 'recent'], ['Bytes up', 'number'], ['Bytes down', 'number'], ['Exchanges', 'number'], ['Failed', 'number']],
      list.map(host => [
        element('a', { href: '#', 'data-filter': `~d ${quoted(host.host)}` }, shown(host.host, 200)),
        drawing('svg', { class: 'bar', 'aria-hidden': 'true' }, drawing('rect', { class: 'transfer', width: `${bytes(host) / most * 100}%`, height: '100%', rx: 2 })),
        size(host.bytes_in ?? 0), size(host.bytes_out ?? 0), count(host.exchanges),
        element('span', { class: host.failed ? 'bad' : null }, host.failed ? `${count(host.failed)} (${Math.ceil(host.failed / host.exchanges * 100)}%)` : '0'),
      ])),
  ];
}

/** Text as an argument of a filter. */
export const quoted = text => (/^[\w.:-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`);
