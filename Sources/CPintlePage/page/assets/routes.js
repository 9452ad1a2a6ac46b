// SPDX-License-Identifier: Apache-2.0

// The routes with their counters, and a line of how much each had to do in the last minutes.

import { purge, routes } from './api.js';
import { drawing, element, isolated, openDialog, shown, table } from './dom.js';
import { count, placeText, size, visible } from './format.js';

const mostPoints = 45;
/** The number of started exchanges of each route, at each look. */
const history = new Map();

export async function routesPage() {
  const { routes: list, rules = [] } = await routes();
  const names = new Set(list.map(route => route.name));
  for (const name of history.keys()) if (!names.has(name)) history.delete(name);
  return [
    element('h2', {}, 'Routes'),
    element('p.dim', {}, 'In the order of the configuration: the first one that matches decides.'),
    list.length === 0 ? element('p', {}, 'The configuration has no routes: every request passes unchanged.') : table('Routes and their counters',
      ['Route', 'Matches', 'Goes to', ['Recent', 'recent'], ['Started', 'number'], ['Open', 'number'], ['Failed', 'number'], ['Violations', 'number'], ['Cache', 'number'], ['Up', 'number'], ['Down', 'number']],
      list.map(row)),
    element('p', {}, element('button.purge', { type: 'button', click: askForPurge }, 'Purge the cache…')),
    element('h2', {}, 'Rules'),
    element('p.dim', {}, 'About clients and destinations, and how often each has decided since the configuration was loaded.'),
    table('Rules and their decisions', ['Rule', 'Place', ['Decisions', 'number']],
      rules.filter(rule => rule.used || rule.place).map(rule => [shown(rule.name, 300), rule.place ? visible(placeText(rule.place), 300) : '–', count(rule.count ?? 0)])),
  ];
}

function row(route) {
  const counters = route.counters ?? {};
  const points = history.get(route.name) ?? [];
  points.push(counters.started ?? 0);
  if (points.length > mostPoints + 1) points.shift();
  history.set(route.name, points);
  const kinds = Object.entries(route.violations ?? {}).filter(([, times]) => times > 0);
  const total = kinds.reduce((sum, [, times]) => sum + times, 0);
  const asked = (counters.cache_hits ?? 0) + (counters.cache_misses ?? 0);
  return [
    element('span', {}, element('strong', {}, shown(route.name, 100)),
      route.place ? element('code.place', { title: placeText(route.place) }, isolated(placeText(route.place).replace(/^.*\//, ''))) : null),
    visible(route.match, 400),
    element('span', {}, shown(route.answer === undefined ? route.upstream ?? 'where it was aimed' : `answers ${route.answer} itself`, 300), route.trust ? element('span.note', {}, ` trust ${visible(route.trust, 100)}`) : null),
    sparkline(points),
    route.used === false ? element('span.chip.unused', {}, 'unused') : count(counters.started),
    count(counters.active),
    element('span', { class: counters.failed ? 'bad' : null }, count(counters.failed)),
    element('span', { class: total ? 'bad' : null, title: kinds.map(([kind, times]) => `${visible(kind, 64)}: ${count(times)}`).join(', ') || null }, count(total)),
    asked ? `${Math.round((counters.cache_hits ?? 0) / asked * 100)}% hits` : '–',
    size(counters.bytes_up ?? 0),
    size(counters.bytes_down ?? 0),
  ];
}

/** Asks which stored responses to remove; the form is the confirmation. */
function askForPurge() {
  const prefix = element('input', { id: 'purge-prefix', type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: '8192', placeholder: 'https://api.example/v1/' });
  const button = element('button.danger', { type: 'submit' }, 'Remove all stored responses');
  // The button says what it does.
  prefix.addEventListener('input', () => { button.textContent = prefix.value ? 'Remove these responses' : 'Remove all stored responses'; });
  openDialog('Purge the cache',
    element('form', {
      async submit(event) {
        event.preventDefault();
        button.disabled = true;
        try {
          const { count: removed } = await purge(prefix.value ? { prefix: prefix.value } : { all: true });
          openDialog('The cache is purged', element('p', {}, removed === 1 ? '1 stored response was removed.' : `${count(removed)} stored responses were removed.`));
        } catch (error) {
          openDialog('The cache is not purged', element('p.fault', {}, visible(error.message)));
        }
      },
    },
    element('label', { for: 'purge-prefix' }, 'Beginning of their URLs; empty for all'), prefix,
    element('p.dim', {}, 'Removed responses are fetched again when a client asks for them. This cannot be undone.'),
    button));
}

/** The differences between looks, as a line. */
function sparkline(points) {
  const steps = points.slice(1).map((value, index) => Math.max(0, value - points[index]));
  const most = Math.max(...steps, 1);
  const place = (value, index) => `${mostPoints - steps.length + index},${Math.round((1 - value / most) * 180) / 10 + 1}`;
  return drawing('svg', { class: 'sparkline', viewBox: `0 0 ${mostPoints} 20`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${count(steps.at(-1) ?? 0)} new since the last look` },
    steps.length > 1 ? drawing('polyline', { points: steps.map(place).join(' ') }) : null);
}
