// SPDX-License-Identifier: Apache-2.0

// Elements from values. Text becomes text nodes only: there is no way from here to markup.

import { visible } from './format.js';

/** Makes an element: `element('a.link', {href, click}, 'text', child)`. Functions are listeners; undefined, null and false are left out. */
export function element(tag, properties, ...children) {
  const [name, ...classes] = tag.split('.');
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(' ');
  return fill(made, properties, children);
}

/** The same in SVG. */
export function drawing(name, properties, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), properties, children);
}

function fill(made, properties, children) {
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat(2).filter(child => child !== undefined && child !== null && child !== false));
  return made;
}

export const byId = id => document.getElementById(id);

/** A table. A column is a title or [title, class]; a row is a list of texts and elements. */
export function table(caption, columns, rows) {
  const titles = columns.map(column => (Array.isArray(column) ? column : [column, '']));
  // A table may be wider than a phone: it scrolls in a box that the keyboard reaches.
  return element('div.scroll', { tabindex: '0', role: 'region', 'aria-label': caption },
    element('table', {},
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, titles.map(([title, kind]) => element('th', { scope: 'col', class: kind || null }, title)))),
      element('tbody', {}, rows.map(row => element('tr', {},
        row.map((cell, index) => element('td', { class: titles[index][1] || null }, isolated(cell))))))));
}

/** A string in an isolate, so that its direction changes nothing around it. */
export const isolated = cell => (typeof cell === 'string' ? element('bdi', {}, cell) : cell);
/** A value that a client, an origin or a file has brought. */
export const shown = (value, limit) => isolated(visible(value, limit));

/** Lines of text as they are; nothing if there are none. */
export function preformatted(lines = []) {
  return lines.length ? element('pre', { tabindex: '0' }, element('bdi', {}, lines.map(line => visible(line)).join('\n'))) : '';
}

export const chip = (word, kind) => element('span', { class: `chip ${kind}` }, word);

/** The verdict of a policy of trust. */
export const verdictChip = verdict => (verdict === 'trusted' ? chip('trusted', 'pinned') : chip(visible(verdict, 32), 'denied'));

let toastTimer;
/** Says something in passing; screen readers are told, too. */
export function say(text) {
  const toast = byId('toast');
  toast.textContent = text;
  toast.classList.add('shown');
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => toast.classList.remove('shown'), 4000);
}

/** Opens the one dialog with a title and contents. */
export function openDialog(title, ...contents) {
  const dialog = byId('dialog');
  byId('dialog-title').textContent = title;
  byId('dialog-body').replaceChildren(...contents);
  if (!dialog.open) dialog.showModal();
}
