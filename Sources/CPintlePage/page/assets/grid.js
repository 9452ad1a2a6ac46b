// SPDX-License-Identifier: Apache-2.0

// The list: an ARIA grid that has elements only for the rows that are seen, and a few around them.

import { element } from './dom.js';
import { clock, decision, duration, size, source, target, trust, visible } from './format.js';

/** Rows beyond each edge, so that a fast scroll does not show gaps. */
const overscan = 12;

/** The columns: a class for the style sheet, a title, and what a record has there: text, or [text, class]. */
const columns = [
  ['time', 'Time', record => clock(record.time)],
  ['method', 'Method', record => visible(record.method, 24)],
  ['target', 'Host and path', record => target(record)],
  ['status', 'Status', record => [String(record.status ?? '–'), `status-${String(record.status)[0]}`]],
  ['decision', 'Decision', decision],
  ['route', 'Route', record => visible(record.route, 64)],
  ['trust', 'Trust', trust],
  ['source', 'Source', source],
  ['size', 'Size', record => size(record.bytes_out)],
  ['duration', 'Duration', record => duration(record.duration_ms)],
];
/** The widths below which a list has these classes, and leaves out more. */
const widths = { medium: 1080, small: 900, narrow: 780, phone: 560 };

function makeRow(role) {
  const cells = columns.map(([name, title], index) => {
    const text = role === 'columnheader' ? title : name === 'decision' ? element('span') : null;
    return element(`div.${name}`, { role, 'aria-colindex': index + 1 }, text);
  });
  const row = element('div.row', { role: 'row', 'aria-selected': role === 'gridcell' ? 'false' : null }, cells);
  return { row, cells: cells.map(cell => cell.querySelector('span') ?? cell), record: undefined, index: -1, isSelected: false };
}

function fill(line, record) {
  line.record = record;
  columns.forEach(([name, , read], index) => {
    const value = read(record);
    const [text, kind] = typeof value === 'string' ? [value, ''] : value;
    const cell = line.cells[index];
    if (cell.textContent !== text) cell.textContent = text;
    const style = name === 'decision' ? `chip ${kind}` : kind ? `${name} ${kind}` : name;
    if (cell.className !== style) cell.className = style;
  });
}

export class Grid {
  /**
   * @param root - the element that scrolls, with two empty groups of rows.
   * @param actions - `open(record)`, `select(record)`, and `changed()`, which asks for a frame.
   */
  constructor(root, view, actions) {
    this.root = root;
    this.body = root.querySelector('.rows');
    this.view = view;
    this.actions = actions;
    this.lines = new Map();
    this.spare = [];
    this.scrollTop = 0;
    this.height = 0;
    const header = makeRow('columnheader').row;
    header.setAttribute('aria-rowindex', 1);
    root.querySelector('.head').append(header);
    root.setAttribute('aria-colcount', columns.length);
    root.addEventListener('scroll', () => this.scrolled(), { passive: true });
    root.addEventListener('keydown', event => this.pressed(event));
    this.body.addEventListener('click', event => this.clicked(event));
    new ResizeObserver(([entry]) => this.resized(entry.contentRect)).observe(root);
  }

  // Following the newest

  get follows() { return !this.view.holds; }

  follow() {
    this.view.release();
    this.root.scrollTop = 0;
    this.actions.changed();
  }

  hold() {
    this.view.holds = true;
    this.actions.changed();
  }

  scrolled() {
    const top = this.root.scrollTop;
    // Only a scroll that arrives at the top follows again: the list may stand there while its first rows are read.
    if (top > 0) this.view.holds = true;
    else if (this.scrollTop > 0 && this.selected === undefined) this.view.release();
    this.scrollTop = top;
    this.actions.changed();
  }

  resized({ width, height }) {
    this.height = height;
    for (const [name, least] of Object.entries(widths)) this.root.classList.toggle(name, width < least);
    this.rowHeight = 0;
    this.actions.changed();
  }

  // Selection

  /** The selected record, while it is kept. */
  get record() { return this.selected === undefined ? undefined : this.view.store.at(this.view.store.numberOf(this.selected)); }
  get row() { return this.selected === undefined ? -1 : this.view.row(this.view.store.numberOf(this.selected)); }

  select(row) {
    if (this.view.count === 0) return;
    // Who reads a row does not want it to move.
    this.view.holds = true;
    const record = this.view.store.at(this.view.number(Math.min(Math.max(row, 0), this.view.count - 1)));
    if (!record) return;
    this.selected = record.id;
    this.reveal(this.row);
    this.actions.select(record);
    this.actions.changed();
  }

  /** Selects the row that is so many rows below; the first that is seen if none is selected. */
  move(distance) {
    const row = this.row;
    this.select(row < 0 ? Math.ceil(this.scrollTop / this.measure()) : row + distance);
  }

  deselect() {
    this.selected = undefined;
    if (this.scrollTop === 0) this.view.release();
    this.actions.changed();
  }

  reveal(row) {
    const height = this.measure();
    const room = this.height - this.body.offsetTop;
    const top = row * height;
    let { scrollTop } = this.root;
    if (top < scrollTop) scrollTop = top;
    else if (top + height > scrollTop + room) scrollTop = top + height - room;
    if (scrollTop === this.root.scrollTop) return;
    // The group has the height of the last frame, which may be too small for this place.
    this.body.style.setProperty('height', `${this.view.count * height}px`);
    this.root.scrollTop = scrollTop;
  }

  clicked(event) {
    const row = event.target.closest('.row');
    if (!row) return;
    this.select(Number(row.getAttribute('aria-rowindex')) - 2);
    if (this.record) this.actions.open(this.record);
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.height / this.measure()) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    if (Math.abs(steps[event.key]) === Infinity) this.select(event.key === 'Home' ? 0 : this.view.count - 1);
    else this.move(steps[event.key]);
  }

  // Drawing

  measure() {
    if (this.rowHeight) return this.rowHeight;
    const probe = makeRow('gridcell');
    this.body.style.removeProperty('--row-height');
    this.body.append(probe.row);
    // Rows at parts of a pixel would have seams.
    this.rowHeight = Math.ceil(probe.row.getBoundingClientRect().height) || 28;
    this.body.style.setProperty('--row-height', `${this.rowHeight}px`);
    probe.row.remove();
    return this.rowHeight;
  }

  render() {
    const { view } = this;
    const height = this.measure();
    const { count } = view;
    if (count !== this.rowCount) {
      this.rowCount = count;
      this.body.style.setProperty('height', `${count * height}px`);
      this.root.setAttribute('aria-rowcount', count + 1);
    }
    const first = Math.max(0, Math.floor(this.scrollTop / height) - overscan);
    const end = Math.min(count, Math.ceil((this.scrollTop + this.height) / height) + overscan);
    this.recycle(first, end);
    let active = null;
    for (let index = first; index < end; index += 1) {
      const number = view.number(index);
      const record = view.store.at(number);
      if (!record) continue;
      const line = this.lines.get(number) ?? this.take(number);
      if (line.record !== record) fill(line, record);
      if (line.index !== index || line.height !== height) {
        line.row.style.setProperty('transform', `translateY(${index * height}px)`);
        line.row.setAttribute('aria-rowindex', index + 2);
        line.row.classList.toggle('odd', number % 2 !== 0);
        Object.assign(line, { index, height });
      }
      const isSelected = record.id === this.selected;
      if (line.isSelected !== isSelected) {
        line.row.setAttribute('aria-selected', isSelected);
        line.isSelected = isSelected;
      }
      if (isSelected) active = line.row.id;
    }
    if (active) this.root.setAttribute('aria-activedescendant', active);
    else this.root.removeAttribute('aria-activedescendant');
    this.settle();
  }

  /** Takes the elements of rows that are not seen any more. A row that only moves keeps its own, and costs little. */
  recycle(first, end) {
    const { view } = this;
    const newest = first < end ? view.number(first) : -Infinity;
    const oldest = first < end ? view.number(end - 1) : Infinity;
    for (const [number, line] of this.lines) {
      if (number <= newest && number >= oldest && view.store.at(number) === line.record && (!view.matches || view.matches(line.record))) continue;
      this.lines.delete(number);
      this.spare.push(line);
    }
  }

  take(number) {
    let line = this.spare.pop();
    if (!line) {
      line = makeRow('gridcell');
      line.row.id = `row-${Grid.made += 1}`;
    }
    if (!line.row.isConnected) this.body.append(line.row);
    line.index = -1;
    this.lines.set(number, line);
    return line;
  }

  static made = 0;

  /** When the rows stand still, they are in order in the document, too, for screen readers. */
  settle() {
    for (const { row } of this.spare) if (row.isConnected) row.remove();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      const rows = Array.from(this.lines.values()).sort((left, right) => left.index - right.index).map(line => line.row);
      if (rows.some((row, index) => this.body.children[index] !== row)) this.body.replaceChildren(...rows);
    }, 300);
  }
}
