// SPDX-License-Identifier: Apache-2.0

// Everything that is known about one exchange.

import { asCurl, asRule, asTest, copy, hasTarget, lacksContent, proxyOf } from './actions.js';
import { exchange, explain } from './api.js';
import { byId, chip, element, isolated, shown, table, verdictChip } from './dom.js';
import { count, day, decision, placeText, size, source, trust, visible, visibleLines } from './format.js';
import { waterfall } from './waterfall.js';

export class Detail {
  /** @param activity - gives the newest activity, for the address of the proxy. */
  constructor(panel, activity) {
    this.panel = panel;
    this.activity = activity;
    this.abort = new AbortController();
  }

  get isOpen() { return !this.panel.hidden; }

  /** Shows what the list knows of it at once, and all of it when the endpoint has answered. */
  async open(id, record) {
    if (this.id === id && this.isOpen) return;
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.id = id;
    this.panel.hidden = false;
    const known = { record: record ?? { id } };
    this.show(known, element('p.dim', {}, 'Loading…'));
    try {
      const detail = await exchange(id, signal);
      if (!signal.aborted) this.show(detail, ...sections(detail));
    } catch (error) {
      const text = error.status === 404 ? 'Pintle does not keep the rest of this exchange any more.' : error.message;
      if (!signal.aborted) this.show(known, element('p.fault', {}, visible(text)));
    }
  }

  close() {
    this.abort.abort();
    this.id = undefined;
    this.panel.hidden = true;
  }

  show(detail, ...contents) {
    const { record } = detail;
    const body = byId('detail-body');
    body.replaceChildren(
      heading(record),
      element('div.actions', {}, record.method ? this.actions(detail) : ''),
      facts(record),
      section('Timing', waterfall(record)),
      ...contents);
    body.scrollTop = 0;
  }

  actions(detail) {
    const { record } = detail;
    if (!hasTarget(record)) return element('p.dim', {}, 'This request has no URL, so that it cannot be copied or explained.');
    const button = (text, click) => element('button', { type: 'button', click }, text);
    return [
      button('Copy as curl', () => copy(
        lacksContent(detail) ? 'the command without its content, which was not kept whole' : 'the command',
        asCurl(detail, proxyOf(this.activity())))),
      button('Copy as test', () => copy('the policy test', asTest(detail))),
      button('Copy allow rule', () => copy('the rule', asRule(record, 'allow'))),
      button('Copy deny rule', () => copy('the rule', asRule(record, 'deny'))),
      button('Explain now', () => this.explain(detail)),
    ];
  }

  /** Asks how the configuration in force decides; the exchange may have been decided by an older one. */
  async explain({ record, request }) {
    const { signal } = this.abort;
    let contents;
    try {
      const { why: reasons, sent } = await explain(record.method ?? 'GET', record.url ?? '', request?.fields ?? [], record);
      contents = [path(reasons), sent ? element('p', {}, 'sent to ', shown(`${sent.method} ${sent.url}`)) : null].filter(Boolean);
    } catch (error) {
      contents = [element('p.fault', {}, visible(error.message))];
    }
    if (signal.aborted) return;
    const made = section('By the configuration in force', ...contents);
    made.id = 'explained';
    byId('explained')?.remove();
    byId('detail-body').querySelector('section').before(made);
    made.querySelector('h3').tabIndex = -1;
    made.querySelector('h3').focus();
  }
}

const section = (title, ...contents) => element('section', {}, element('h3', {}, title), ...contents);

function heading(record) {
  return element('header.exchange', {},
    element('h2', {}, element('span.method', {}, visible(record.method ?? '–', 40)), ' ', shown(record.url ?? record.host ?? '', 2000)),
    element('p.chips', {},
      chip(...decision(record)),
      record.status === undefined ? null : element('span', { class: `chip plain status-${String(record.status)[0]}` }, String(record.status)),
      trust(record)[1] ? chip(trust(record)[0], trust(record)[1]) : null,
      source(record)[1] ? chip(source(record)[0], source(record)[1]) : null),
    record.error ? element('p.fault', {}, shown(record.error)) : null);
}

function facts(record) {
  const upstream = record.upstream_status !== undefined && record.upstream_status !== record.status ? record.upstream_status : undefined;
  const entries = [
    ['Time', record.time], ['Client', record.client], ['User', record.user], ['Tag', record.tag],
    ['Revision', record.revision],
    ['Process', record.process && `${record.process} (${record.pid ?? '?'})`],
    ['Mode', record.mode], ['Address', record.address], ['Route', record.route], ['Rule', record.rule],
    ['Trust', trust(record)[0]], ['Source', source(record)[0]], ['Upstream', upstream],
    ['Protocol', [record.http && `HTTP/${record.http}`.replace(/^HTTP\/(?=\D)/, ''), record.tls].filter(Boolean).join(' over ')],
    ['Bytes', [record.bytes_in && `${size(record.bytes_in)} in`, record.bytes_out !== undefined && `${size(record.bytes_out)} out`].filter(Boolean).join(', ')],
    ['Retries', record.retries], ['Redirects', record.redirects], ['Form', record.form?.join(', ')], ['Id', record.id],
  ].filter(([, value]) => value !== undefined && value !== '' && value !== 0);
  return element('dl.facts', {}, entries.map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, shown(String(value), 600)))));
}

function sections(detail) {
  const { record, request, response, sent } = detail;
  return [
    detail.why?.length ? section('Why', path(detail.why)) : null,
    detail.violations?.length ? section('Violations', element('ul.violations', {}, detail.violations.map(({ kind, message }) =>
      element('li', {}, chip(visible(kind, 64), 'rejected'), ' ', shown(message))))) : null,
    detail.certificates?.length || detail.trust ? section('Trust', chain(detail.certificates ?? [], detail.trust)) : null,
    sent ? section('As it came, and as it would be sent', comparison(record, request, sent)) : null,
    message('request', request),
    message('response', response),
    detail.websocket ? section('The WebSocket', messages(detail.messages)) : null,
  ].filter(Boolean);
}

/** The reasons as a path, in the order in which the policy decides. What is passed over is there, but grey. */
function path(reasons) {
  const groups = [];
  for (const reason of reasons) {
    if (groups.at(-1)?.topic === reason.topic) groups.at(-1).reasons.push(reason);
    else groups.push({ topic: reason.topic, reasons: [reason] });
  }
  return element('ol.path', {}, groups.map(group => element('li', { class: group.reasons.every(reason => reason.loses) ? 'loses' : null },
    element('h4', {}, visible(group.topic, 64)),
    group.reasons.map(({ text, place, loses }) => element('p', { class: loses ? 'loses' : null },
      loses && group.topic !== 'passed over' ? element('span.note', {}, 'passed over: ') : null,
      shown(text),
      place ? element('code.place', {}, isolated(placeText(place))) : null)))));
}

/** The chain from the root to the leaf. The endpoint tells it leaf first. */
function chain(certificates, verdict) {
  const order = { root: 0, intermediate: 1, leaf: 2 };
  const sorted = certificates.toReversed().sort((left, right) => (order[left.position] ?? 1) - (order[right.position] ?? 1));
  return element('div', {},
    verdict ? element('p', {},
      verdictChip(verdict.outcome),
      ' by the policy ', shown(verdict.name, 100),
      verdict.error ? [': ', shown(verdict.error)] : null,
      verdict.forecast ? `. From ${day(verdict.forecast)} on, no pin is sure to match.` : null) : null,
    sorted.length ? element('ol.chain', {}, sorted.map(certificate => element('li', { class: certificate.matched ? 'matched' : null },
      element('p', {},
        element('strong', {}, visible(certificate.position, 32)), ' ',
        certificate.matched ? chip('pinned', 'pinned') : null, ' ',
        daysLeft(certificate)),
      element('p', {}, shown(certificate.subject, 400)),
      element('p.dim', {}, 'issued by ', shown(certificate.issuer, 400)),
      element('code', {}, visible(certificate.pin, 100))))) : null);
}

function daysLeft({ days_left: days, not_after: end }) {
  if (days === undefined) return null;
  const text = days < 0 ? `expired on ${day(end)}` : `${count(days)} days left, until ${day(end)}`;
  return element('span', { class: days < 0 ? 'bad' : days < 30 ? 'soon' : 'dim' }, text);
}

/** The request as it came beside the request as it is sent. */
function comparison(record, request, sent) {
  const named = fields => {
    const map = new Map();
    for (const [name, value] of fields ?? []) {
      const key = name.toLowerCase();
      if (!map.has(key)) map.set(key, { name, values: [] });
      map.get(key).values.push(value);
    }
    return map;
  };
  const [left, right] = [named(request?.fields), named(sent.fields)];
  const rows = [['', `${record.method ?? ''} ${record.url ?? ''}`, `${sent.method} ${sent.url}`]];
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    rows.push([(left.get(key) ?? right.get(key)).name, left.get(key)?.values.join('\n'), right.get(key)?.values.join('\n')]);
  }
  const word = (before, after) => (before === after ? '' : before === undefined ? 'added' : after === undefined ? 'removed' : 'changed');
  return table('Request as it came and as it is sent', [['Field', 'name'], 'Came in', 'Sent', ['Difference', 'difference']],
    rows.map(([name, before, after]) => {
      const difference = word(before, after);
      const cell = (value, kind) => element('span', { class: difference ? `${kind} value` : 'value' }, isolated(visibleLines(value ?? '', 4000)));
      return [
        name === '' ? element('span.dim', {}, 'request line') : visible(name, 200),
        cell(before, 'before'), cell(after, 'after'),
        difference,
      ];
    }));
}

function message(name, value) {
  if (!value?.fields?.length) return null;
  const fields = table(`Fields of the ${name}`, [['Field', 'name'], 'Value'], value.fields.map(([field, text]) =>
    [visible(field, 200), element('span.value', {}, shown(text, 8192))]));
  return section(`The ${name}`, fields, body(`Body of the ${name}`, value.body));
}

/** The most characters of a body that are laid out at once, and the most bytes of one that is no text. */
const mostText = 65_536;
const mostBytes = 16_384;

function body(caption, value) {
  if (!value) return null;
  const bytes = value.text === undefined ? atob(value.base64 ?? '') : '';
  const text = value.text ?? dump(bytes);
  const block = element('pre', { tabindex: '0', role: 'region', 'aria-label': caption }, element('bdi', {}, visibleLines(text, mostText)));
  const part = value.truncated ? (value.size === undefined ? 'not kept whole' : `the beginning of ${size(value.size)}`) : '';
  const kind = value.text !== undefined ? '' : bytes.length > mostBytes ? `the first ${size(mostBytes)} of ${size(bytes.length)} of bytes` : 'bytes';
  const notes = [kind, part].filter(Boolean).join(', ');
  const more = text.length > mostText
    ? element('button', { type: 'button', click: event => {
      block.replaceChildren(element('bdi', {}, visibleLines(text)));
      event.target.remove();
    } }, `Show all ${count(text.length)} characters`)
    : null;
  return element('div', {}, element('p.dim', {}, `Body${notes && ` (${notes})`}`), block, more);
}

const opcodes = { 1: 'text', 2: 'binary', 8: 'close', 9: 'ping', 10: 'pong' };

/** The most messages of a WebSocket that are laid out. */
const mostMessages = 500;

function messages(list) {
  if (!list?.length) return element('p.dim', {}, 'Its messages were not kept.');
  const rows = list.slice(0, mostMessages).map(({ time, from, opcode, text, base64, truncated }) => [
    visible(time ?? '', 40), from === 'client' ? 'sent' : 'received', opcodes[opcode] ?? String(opcode),
    element('span.value', {}, isolated(visibleLines(text ?? dump(atob(base64 ?? '')), 4000)), truncated ? element('span.dim', {}, ' …') : null),
  ]);
  const rest = list.length - rows.length;
  return element('div', {},
    table('Messages of the WebSocket', ['Time', 'Direction', 'Kind', 'Content'], rows),
    rest > 0 ? element('p.dim', {}, `${count(rest)} more are kept; the HAR file has all.`) : null);
}

/** The first bytes in rows of sixteen, as hexadecimal numbers and as text. */
function dump(bytes) {
  const rows = [];
  for (let start = 0; start < Math.min(bytes.length, mostBytes); start += 16) {
    const row = bytes.slice(start, start + 16);
    const numbers = Array.from(row, byte => byte.charCodeAt(0).toString(16).padStart(2, '0')).join(' ').padEnd(47);
    rows.push(`${start.toString(16).padStart(6, '0')}  ${numbers}  ${row.replace(/[^\x20-\x7e]/g, '.')}`);
  }
  return rows.join('\n');
}
