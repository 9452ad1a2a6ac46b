// SPDX-License-Identifier: Apache-2.0

// The times of one exchange as bars, one below the other.

import { drawing, element } from './dom.js';
import { duration } from './format.js';

/** The phases of a record as [name, class, begin, end] in milliseconds. `connect_ms` and `first_byte_ms` count from the beginning. */
export function phases(record) {
  const end = record.duration_ms;
  if (end === undefined) return [];
  const isTunnel = record.mode === 'tunnel' || record.mode === 'verify';
  const connected = Math.min(record.connect_ms ?? 0, end);
  const secured = Math.min(connected + (record.tls_ms ?? 0), end);
  const answered = Math.min(Math.max(record.first_byte_ms ?? secured, secured), end);
  return [
    ['Connection', 'connect', 0, record.connect_ms === undefined ? undefined : connected],
    ['TLS', 'tls', connected, record.tls_ms === undefined ? undefined : secured],
    ['Waiting', 'wait', secured, record.first_byte_ms === undefined ? undefined : answered],
    [isTunnel ? 'Tunnel' : 'Transfer', 'transfer', answered, end],
  ].filter(([, , , until]) => until !== undefined);
}

export function waterfall(record) {
  const bars = phases(record);
  if (bars.length === 0) return element('p.dim', {}, 'No times were measured.');
  const whole = Math.max(record.duration_ms, 1);
  return element('div.waterfall', {},
    bars.map(([name, kind, begin, end]) => {
      // Even a phase of no time has a line, so that it is seen where it was.
      const width = Math.max((end - begin) / whole * 100, 0.5);
      const x = Math.min(begin / whole * 100, 100 - width);
      return [
        element('span', {}, name),
        drawing('svg', { class: 'bar', 'aria-hidden': 'true' },
          drawing('rect', { class: 'track', width: '100%', height: '100%', rx: 2 }),
          drawing('rect', { class: kind, x: `${x}%`, width: `${width}%`, height: '100%', rx: 2 })),
        element('span.number', {}, duration(end - begin)),
      ];
    }),
    element('span', {}, 'Total'),
    element('span.dim', {}, record.reused ? 'on a connection that was open' : ''),
    element('strong.number', {}, duration(record.duration_ms)));
}
