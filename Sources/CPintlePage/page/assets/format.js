// SPDX-License-Identifier: Apache-2.0

// Values as people read them. Whatever a client or an origin has sent passes through `visible` before it is shown.

/** Characters that are not seen, or change how others are seen: controls, bidi marks, lone surrogates. */
const unseen = /\u200d(?!\p{Extended_Pictographic})|(?![\u200d\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu;
/** More marks on a letter than any language has, which would cover other lines. */
const stacked = /(\p{M}{4})\p{M}+/gu;

const mark = character => `⟨${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Text with unseen characters made visible. Tabs and line ends stay, for text of several lines. */
export function visibleLines(text, limit = Infinity) {
  const whole = String(text ?? '');
  const shown = whole.length > limit ? `${whole.slice(0, limit)}…` : whole;
  return /^[\n\t\x20-\x7e]*$/.test(shown) ? shown : shown.replace(unseen, mark).replace(stacked, '$1…');
}

/** Text for one line, of which a long one would cost frames. */
export function visible(text, limit = 4096) {
  return visibleLines(text, limit).replace(/[\n\t]/g, mark);
}

const number = new Intl.NumberFormat('en');
export const count = value => number.format(value ?? 0);

export function size(bytes) {
  if (bytes === undefined || bytes === null) return '';
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = -1;
  do {
    value /= 1024;
    unit += 1;
  } while (value >= 999.5 && unit < units.length - 1);
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function duration(milliseconds) {
  if (milliseconds === undefined || milliseconds === null) return '';
  if (milliseconds < 1000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

const two = value => String(value).padStart(2, '0');

/** The time of day here; the text itself if it is no time. */
export function clock(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return visible(text ?? '', 32);
  const thousandths = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${thousandths}`;
}

/** A place in a configuration. */
export const placeText = place => visible(place ? `${place.file}${place.line === undefined ? '' : `:${place.line}`}` : '', 300);

/** A time as date and time of day here. */
export const moment = text => (Number.isNaN(Date.parse(text)) ? visible(text, 32) : new Date(text).toLocaleString('sv'));

export const day = text => visible(String(text ?? '').slice(0, 10));

/** Whole days from now until a date; 0 if it is none. */
export const daysUntil = text => Math.floor((new Date(text).getTime() - Date.now()) / 86_400_000) || 0;

/** The decision in a word of its own, and the class that colours it. */
export function decision(record) {
  switch (record.decision) {
    case 'allow': return ['allowed', 'allowed'];
    case 'would-deny': return ['would deny', 'would'];
    case 'deny': return ['denied', 'denied'];
    case 'reject': return ['rejected', 'rejected'];
    case 'error': return ['error', 'error'];
    default: return [visible(record.decision, 32), 'allowed'];
  }
}

/** The policy of trust, with what is known about the destination. */
export function trust(record) {
  const mismatch = record.violations?.includes('pin-mismatch');
  const verdict = mismatch ? 'not pinned' : record.pin ? 'pinned' : '';
  const words = [record.trust, verdict, record.assurance].filter(Boolean).map(word => visible(word, 64));
  return [words.join(' · '), mismatch ? 'rejected' : record.pin ? 'pinned' : ''];
}

/** Who answered, and what the cache had to do with it. */
export function source(record) {
  if (record.source === 'cache' || record.cache === 'hit' || record.cache === 'stale') {
    return [`cache ${visible(record.cache ?? 'hit', 32)}`, 'cached'];
  }
  if (['recording', 'mock', 'fault'].includes(record.source)) return [record.source, 'simulated'];
  const words = [record.source, record.cache].filter(Boolean).map(word => visible(word, 32));
  return [words.join(' · '), ''];
}

/** Host and path: the scheme says nothing that the port does not. */
export function target(record, limit = 400) {
  return visible(record.url?.slice(0, limit + 8).replace(/^https?:\/\//, '') ?? record.host ?? '', limit);
}
