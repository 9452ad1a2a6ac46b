// SPDX-License-Identifier: Apache-2.0

// What another configuration would have made of the kept exchanges.

import { encoded, preview } from './api.js';
import { byId, chip, element, isolated, preformatted, say, shown, table } from './dom.js';
import { count, decision, visible } from './format.js';

const kinds = [
  ['denied', 'would be denied', 'denied'], ['allowed', 'would be allowed', 'pinned'], ['route', 'other route', 'cached'],
  ['trust', 'other trust', 'would'], ['way', 'other way', 'cached'], ['tunnel', 'other tunnel', 'would'],
  ['request', 'other request', 'cached'], ['response', 'other rules for the response', 'cached'],
  ['contract', 'other contract', 'rejected'], ['rejected', 'response would be rejected', 'denied'],
  ['accepted', 'response would be accepted', 'pinned'],
  ['unknown', 'cannot be told', 'unused'], ['same', 'as before', 'allowed'],
];
/** The most rows that are listed. */
const mostRows = 500;

/** Takes files that are dropped anywhere on the page, and from the button. `bringUp()` brings the page of results to the front. */
export function previewFiles(bringUp) {
  const input = byId('preview-file');
  input.addEventListener('change', () => {
    take(input.files[0], bringUp);
    input.value = '';
  });
  byId('preview-choose').addEventListener('click', () => input.click());
  const hasFiles = event => event.dataTransfer?.types.includes('Files');
  // Every element below the pointer tells that it is entered and left.
  let inside = 0;
  const mark = () => document.body.classList.toggle('dropping', inside > 0);
  addEventListener('dragenter', event => { if (hasFiles(event)) { inside += 1; mark(); } });
  addEventListener('dragleave', event => { if (hasFiles(event)) { inside = Math.max(0, inside - 1); mark(); } });
  addEventListener('dragover', event => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener('drop', event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    inside = 0;
    mark();
    take(event.dataTransfer.files[0], bringUp);
  });
}

async function take(file, bringUp) {
  if (!file) return;
  bringUp();
  const results = byId('preview-results');
  if (file.size > 4 * 2 ** 20) {
    results.replaceChildren(element('p.fault', {}, 'This file has more than 4 MiB, so it is no configuration.'));
    return;
  }
  results.replaceChildren(element('p.dim', {}, 'Deciding every kept exchange again…'));
  try {
    const text = await file.text();
    results.replaceChildren(...summary(visible(file.name, 200), await preview(text)));
    say('The preview is there');
  } catch (error) {
    results.replaceChildren(element('p.fault', {}, visible(error.message)), preformatted(error.problem?.lines));
  }
  results.tabIndex = -1;
  results.focus();
}

function summary(name, result) {
  const rows = result.rows ?? [];
  const changed = (result.exchanges ?? 0) - (result.same ?? 0);
  return [
    element('h3', {}, isolated(name)),
    element('p', {}, changed === 0
      ? `It decides all ${count(result.exchanges)} exchanges as the configuration in force does.`
      : `It decides ${count(changed)} of ${count(result.exchanges)} exchanges otherwise.`),
    element('ul.tiles', {}, kinds.map(([key, text, kind]) => element('li', { class: result[key] ? kind : 'none' },
      element('strong', {}, count(result[key])), ' ', element('span', {}, text)))),
    element('div.differences', {}, rows.slice(0, mostRows).map(difference)),
    rows.length > mostRows ? element('p.dim', {}, `and ${count(rows.length - mostRows)} more`) : '',
  ];
}

/** A side with parts for the verdict on the response, and one for each field of the request that is sent. */
function parts({ response, ...side } = {}) {
  if (typeof response !== 'object') return sentParts(side);
  const { verdict, violations = [], reason } = response;
  return sentParts({ ...side, response: [verdict, reason, ...violations].filter(Boolean).join('; ') });
}

function sentParts({ sent, ...side }) {
  if (typeof sent !== 'object') return { ...side, ...(sent && { sent }) };
  const fields = {};
  for (const [name, value] of sent.fields ?? []) {
    const part = `sent ${name}`;
    fields[part] = part in fields ? `${fields[part]}, ${value}` : value;
  }
  return { ...side, sent: `${sent.method} ${sent.url}`, ...fields };
}

function difference(row) {
  const sides = { before: parts(row.before), after: parts(row.after) };
  const names = Array.from(new Set([...Object.keys(sides.before), ...Object.keys(sides.after)]));
  const text = (side, name) => {
    const value = sides[side][name];
    if (value === undefined) return '–';
    return name === 'decision' ? decision({ decision: value })[0] : visible(typeof value === 'string' ? value : JSON.stringify(value), 1000);
  };
  const known = kind => kinds.find(([key]) => key === kind) ?? [kind, visible(kind, 64), 'unused'];
  return element('details', {},
    element('summary', {},
      element('span.method', {}, visible(row.method, 24)), ' ',
      element('span.target', {}, shown(row.url, 400)), ' ',
      (row.kinds ?? []).map(kind => chip(known(kind)[1], known(kind)[2]))),
    table('Before and after', [['Part', 'name'], 'In force', 'This file'], names.map(name => {
      const [before, after] = [text('before', name), text('after', name)];
      const cell = value => element('span', { class: before === after ? null : 'changed' }, isolated(value));
      return [visible(name, 64), cell(before), cell(after)];
    })),
    element('p', {}, element('a', { href: `#x=${encoded(row.id)}` }, 'Show the exchange')));
}
