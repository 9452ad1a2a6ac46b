// SPDX-License-Identifier: Apache-2.0

// The exchanges and tunnels that have not ended.

import { running } from './api.js';
import { element, isolated, shown, table } from './dom.js';
import { duration, size, target } from './format.js';

export async function runningPage() {
  const { exchanges: list } = await running();
  return [
    element('h2', {}, 'Under way'),
    list.length === 0 ? element('p', {}, 'Nothing is under way.') : table('Exchanges and tunnels under way, the oldest first',
      ['Method', 'Host and path', 'Route', 'Client', ['Bytes up', 'number'], ['Bytes down', 'number'], ['For', 'number']],
      list.map(record => [
        shown(record.method ?? '', 20), isolated(target(record, 300)), shown(record.route ?? '', 60), shown(record.client ?? '', 60),
        size(record.bytes_in ?? 0), size(record.bytes_out ?? 0), duration(record.duration_ms ?? 0),
      ])),
  ];
}
