// SPDX-License-Identifier: Apache-2.0

// What the configuration has and no exchange has needed yet.

import { routes, trust } from './api.js';
import { element, shown } from './dom.js';
import { placeText } from './format.js';

export async function unusedPage() {
  const [{ routes: list, rules = [] }, { policies }] = await Promise.all([routes(), trust()]);
  const groups = [
    ['Rules', rules.filter(rule => !rule.used && rule.place).map(rule => [rule.name, placeText(rule.place)])],
    ['Routes', list.filter(route => !route.used).map(route => [route.name, [route.match, placeText(route.place)].filter(Boolean).join(' · ')])],
    ['Pins', policies.flatMap(policy => (policy.pins ?? []).filter(pin => !pin.seen).map(pin => [policy.name, pin.pin]))],
  ];
  return [
    element('h2', {}, 'Unused'),
    element('p.dim', {}, 'Since the start, and rules since the configuration was loaded. A backup pin is not seen until the keys of its server change.'),
    ...groups.map(([title, entries]) => element('section', {},
      element('h3', {}, title, ' ', element('span.note', {}, String(entries.length))),
      entries.length === 0 ? element('p.dim', {}, 'All of them are used.') : element('ul.unused', {}, entries.map(([name, text]) =>
        element('li', {}, element('strong', {}, shown(name, 300)), ' ', element('code', {}, shown(text, 600))))))),
  ];
}
