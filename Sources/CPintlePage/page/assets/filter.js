// SPDX-License-Identifier: Apache-2.0

// The language of filters (docs/filters.md), read as the program reads it; Tests/Vectors/filters.json holds both together.
//
//     filter   = [ any ]
//     any      = all *( "|" all )
//     all      = not *( [ "&" ] not )
//     not      = "!" not / "(" any ")" / term
//     term     = "~" name [ argument ] / argument
//     argument = word / quoted / "/" expression "/" [ "i" ]

/** The longest filter, in Unicode scalars, and the deepest nesting. */
export const longest = 4096;
const deepest = 64;

/** A fault of a filter. `position` is the Unicode scalar at which it begins, counted from 0. */
export class FilterFault extends Error {
  constructor(reason, position) {
    super(`${reason}, at character ${position + 1}`);
    this.position = position;
  }
}

const violationKinds = [
  'response-status', 'response-content-type', 'response-body', 'body-too-large', 'pin-mismatch', 'certificate-invalid',
  'unserializable-request', 'destination-denied', 'early-retry', 'recording-differs', 'credential-misuse',
];

const one = value => (value === undefined || value === null ? [] : [String(value)]);
const lines = (...lists) => lists.flatMap(list => list ?? []);
const types = (...lists) => lines(...lists).filter(line => /^content-type:/i.test(line)).map(line => line.replace(/^[^:]*:\s*/, ''));
const pinVerdict = record => (record.violations?.includes('pin-mismatch') ? 'mismatch' : record.pin ? 'match' : 'none');

// An operator is [argument, what it reads or asks, words]. `part` is text within a value, `whole` all of it.
const operators = {
  d: ['part', record => one(record.host)],
  m: ['whole', record => one(record.method)],
  u: ['part', record => one(record.url)],
  c: ['statuses'],
  h: ['part', record => lines(record.request, record.response)],
  hq: ['part', record => lines(record.request)],
  hs: ['part', record => lines(record.response)],
  t: ['part', record => types(record.request, record.response)],
  tq: ['part', record => types(record.request)],
  ts: ['part', record => types(record.response)],
  b: ['part', record => lines(record.request_texts, record.response_texts)],
  bq: ['part', record => lines(record.request_texts)],
  bs: ['part', record => lines(record.response_texts)],
  e: ['none', record => record.error !== undefined],
  q: ['none', record => record.status === undefined],
  s: ['none', record => record.status !== undefined],
  websocket: ['none', record => record.status === 101 && lines(record.request).some(line => /^upgrade:\s*websocket$/i.test(line))],
  route: ['whole', record => one(record.route)],
  rule: ['part', record => one(record.rule)],
  v: ['word', record => record.violations ?? [], violationKinds],
  deny: ['none', record => record.decision === 'deny' || record.decision === 'reject'],
  would: ['none', record => record.decision === 'would-deny'],
  trust: ['whole', record => one(record.trust)],
  pin: ['word', record => [pinVerdict(record)], ['match', 'mismatch', 'none']],
  as: ['word', record => one(record.assurance), ['probed', 'observed']],
  user: ['whole', record => one(record.user)],
  tag: ['whole', record => one(record.tag)],
  proc: ['whole', record => [...one(record.process), ...one(record.pid)]],
  rev: ['whole', record => one(record.revision)],
  cache: ['word', record => one(record.cache), ['hit', 'stale', 'validated', 'merged', 'miss', 'bypass']],
  from: ['word', record => one(record.source), ['origin', 'cache', 'recording', 'mock', 'fault', 'pintle']],
  slow: ['duration'],
  big: ['size'],
  id: ['whole', record => one(record.id)],
};
/** Operators that read header fields and bodies, which records of the list do not have. */
const unlisted = new Set(['h', 'hq', 'hs', 't', 'tq', 'ts', 'b', 'bq', 'bs', 'websocket']);

/**
 * Reads a filter.
 *
 * @returns `matches`, a function of a record, and `needsServer`: true if the server must evaluate the filter. It must for fields that
 *   records do not have, and for regular expressions: nothing stops a bad one in JavaScript. A worker with a time limit would be
 *   more code, and would not agree with the program on what is too long; the server bounds the steps of each search.
 * @throws {FilterFault} the first fault.
 */
export function parseFilter(source) {
  const parser = new Parser(source);
  const matches = parser.parse();
  return { source, matches, needsServer: parser.needsServer, isEmpty: parser.isEmpty };
}

const space = /\p{White_Space}/u;
const signs = '&|()';

class Parser {
  constructor(source) {
    this.scalars = Array.from(source);
    this.index = 0;
    this.depth = 0;
    this.needsServer = false;
    this.isEmpty = false;
    if (this.scalars.length > longest) throw new FilterFault(`a filter has at most ${longest} characters`, longest);
  }

  parse() {
    if (this.peek() === undefined) {
      this.isEmpty = true;
      return () => true;
    }
    const expression = this.any();
    if (this.peek() !== undefined) throw new FilterFault('there is no ( for this )', this.index);
    return expression;
  }

  // Expressions

  any() {
    const parts = [this.all()];
    while (this.peek() === '|') {
      this.index += 1;
      parts.push(this.all());
    }
    return parts.length === 1 ? parts[0] : record => parts.some(part => part(record));
  }

  all() {
    const parts = [this.not()];
    for (let next = this.peek(); next !== undefined && next !== '|' && next !== ')'; next = this.peek()) {
      if (next === '&') this.index += 1;
      parts.push(this.not());
    }
    return parts.length === 1 ? parts[0] : record => parts.every(part => part(record));
  }

  not() {
    const start = this.index;
    if (this.depth === deepest) throw new FilterFault(`more than ${deepest} levels of ! and ( are too many`, start);
    this.depth += 1;
    const expression = this.primary();
    this.depth -= 1;
    return expression;
  }

  primary() {
    const next = this.peek();
    const opening = this.index;
    switch (next) {
      case '!': {
        this.index += 1;
        const inner = this.not();
        return record => !inner(record);
      }
      case '(': {
        this.index += 1;
        const inner = this.any();
        if (this.peek() !== ')') throw new FilterFault('this ( has no )', opening);
        this.index += 1;
        return inner;
      }
      case '~': return this.named();
      case undefined: throw new FilterFault('there is something missing', this.index);
      case '&': case '|': case ')': throw new FilterFault('there is something missing before this', this.index);
      default: return this.text('u', 'part');
    }
  }

  // Terms

  named() {
    const start = this.index;
    this.index += 1;
    const name = this.word();
    if (!Object.hasOwn(operators, name)) throw unknown(name, start);
    if (unlisted.has(name)) this.needsServer = true;
    const [argument, read, words] = operators[name];
    switch (argument) {
      case 'none': return read;
      case 'word': {
        const at = this.argumentStart(name);
        const text = lowercase(this.plainText());
        if (!words.includes(text)) throw new FilterFault(`~${name} asks for one of ${words.join(', ')}`, at);
        return record => read(record).includes(text);
      }
      case 'statuses': {
        const [first, last] = this.value(name, statuses);
        return record => record.status >= first && record.status <= last;
      }
      case 'duration': {
        const least = this.value(name, duration);
        return record => record.duration_ms >= least;
      }
      case 'size': {
        const least = this.value(name, byteCount);
        return record => (record.bytes_in ?? 0) + (record.bytes_out ?? 0) >= least;
      }
      default: return this.text(name, argument);
    }
  }

  text(name, argument) {
    const read = operators[name][1];
    this.argumentStart(name);
    if (this.peek() === '/') {
      const expression = this.expression();
      this.needsServer = true;
      return record => read(record).some(value => expression.test(value));
    }
    const text = lowercase(this.plainText());
    return argument === 'part'
      ? record => read(record).some(value => lowercase(value).includes(text))
      : record => read(record).some(value => lowercase(value) === text);
  }

  value(name, spelling) {
    const at = this.argumentStart(name);
    const [value, fault] = spelling(this.plainText());
    if (fault) throw new FilterFault(`the argument of ~${name} ${fault}`, at);
    return value;
  }

  // Arguments

  argumentStart(name) {
    const next = this.peek();
    if (next === undefined || '&|()!~'.includes(next)) {
      throw new FilterFault(`~${name} has no argument; write one with such a character in quotation marks`, this.index);
    }
    return this.index;
  }

  plainText() {
    const mark = this.peek();
    if (mark !== '"' && mark !== "'") return this.word();
    const start = this.index;
    let text = '';
    for (this.index += 1; this.index < this.scalars.length;) {
      let scalar = this.scalars[this.index++];
      if (scalar === mark) return text;
      const next = this.scalars[this.index];
      if (scalar === '\\' && (next === mark || next === '\\')) {
        scalar = next;
        this.index += 1;
      }
      text += scalar;
    }
    throw new FilterFault('this quotation mark has no second one', start);
  }

  expression() {
    const start = this.index;
    const text = [];
    for (this.index += 1; this.index < this.scalars.length;) {
      const scalar = this.scalars[this.index++];
      if (scalar === '/') {
        const ignoresCase = this.scalars[this.index] === 'i';
        if (ignoresCase) this.index += 1;
        if (!this.isAtEndOfWord) throw new FilterFault('only i may stand behind a regular expression', this.index);
        try {
          return new RegExp(strict(text), ignoresCase ? 'ui' : 'u');
        } catch (error) {
          throw new FilterFault(`the regular expression ${error.message.replace(/^.*: /s, 'is faulty: ').toLowerCase()}`, start);
        }
      }
      text.push(scalar);
      if (scalar === '\\' && this.index < this.scalars.length) text.push(this.scalars[this.index++]);
    }
    throw new FilterFault('this regular expression has no / at its end; text that begins with / is in quotation marks', start);
  }

  get isAtEndOfWord() {
    const scalar = this.scalars[this.index];
    return scalar === undefined || space.test(scalar) || signs.includes(scalar);
  }

  word() {
    const start = this.index;
    while (!this.isAtEndOfWord) this.index += 1;
    return this.scalars.slice(start, this.index).join('');
  }

  /** Passes over blanks; the scalar behind them, undefined at the end. */
  peek() {
    while (this.index < this.scalars.length && space.test(this.scalars[this.index])) this.index += 1;
    return this.scalars[this.index];
  }
}

/** Scalar by scalar, as in Swift: JavaScript looks at the neighbours of a sigma. Composed letters are equal to others in Swift. */
function lowercase(text) {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  return Array.from(text, scalar => scalar.toLowerCase()).join('').normalize();
}

/** In JavaScript's strict syntax: the program also takes lone braces and needless backslashes, but no newer groups. */
function strict(scalars) {
  let output = '';
  let inClass = false;
  for (let index = 0; index < scalars.length; index += 1) {
    const scalar = scalars[index];
    const rest = () => scalars.slice(index).join('');
    if (scalar === '\\') {
      const next = scalars[++index] ?? '';
      const isNeedless = /^[\0-\x7f]$/.test(next) && !/[\w^$\\.*+?()[\]{}|/]/.test(next) || next === '_';
      output += isNeedless && !(inClass && next === '-') ? next : scalar + next;
      const braces = /^[upPk]$/.test(next) ? /^[upPk](\{[^}]*\}|<[^>]*>)/.exec(rest()) : null;
      if (braces) {
        output += braces[1];
        index += Array.from(braces[1]).length;
      }
    } else if (inClass) {
      output += scalar === '[' ? '\\[' : scalar;
      inClass = scalar !== ']';
    } else if (scalar === '[') {
      output += scalar;
      inClass = true;
    } else if (scalar === '{' || scalar === '}' || scalar === ']') {
      const braces = scalar === '{' ? /^\{\d+(,\d*)?\}/.exec(rest()) : null;
      output += braces ? braces[0] : `\\${scalar}`;
      index += braces ? braces[0].length - 1 : 0;
    } else if (scalar === '(' && scalars[index + 1] === '?' && !/^\(\?[:=!<]/.test(rest())) {
      throw new SyntaxError('a group that ECMA-262 does not know; remove what follows “(?”');
    } else {
      output += scalar;
    }
  }
  return output;
}

// Values, spelled as in the configuration: each gives [value] or [undefined, fault].

function statuses(text) {
  const hundreds = /^([1-5])xx$/i.exec(text);
  if (hundreds) return [[Number(hundreds[1]) * 100, Number(hundreds[1]) * 100 + 99]];
  const range = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/.exec(text);
  const [first, last] = range ? [Number(range[1]), Number(range[2] ?? range[1])] : [1, 0];
  if (first > last) return [undefined, 'must be a status or a range from 100 to 599, as in 304, 200-299 or 2xx'];
  return [[first, last]];
}

function duration(text) {
  const factors = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const form = 'a duration: a whole number with a unit, as in 250ms, 10s, 5m, 1h or 2d';
  return amount(text, factors, form, 86_400_000 * 365, '0s to 365d');
}

function byteCount(text) {
  const factors = { '': 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
  const form = 'a size: a whole number of bytes, or with a unit, as in 64KiB, 8MiB or 1GiB';
  return amount(text, factors, form, 2 ** 50, '0 to 1048576GiB');
}

function amount(text, factors, form, most, range) {
  const [, digits, unit] = /^(\d*)(.*)$/s.exec(text);
  if (!digits || !Object.hasOwn(factors, unit) || BigInt(digits) >= 2n ** 63n) return [undefined, `must be ${form}`];
  const value = Number(digits) * factors[unit];
  return value <= most ? [value] : [undefined, `must be from ${range}`];
}

// Slips

function unknown(name, position) {
  if (name === '') return new FilterFault('~ has no name behind it', position);
  // Any letter is near to every name of one letter.
  const hint = Array.from(name).length > 1 ? nearest(name) : undefined;
  return new FilterFault(`there is no ~${name}${hint ? `; did you mean ~${hint}?` : ''}`, position);
}

/** The operator with the fewest edits from `name`: at most a third of its length, but one is always allowed. */
function nearest(name) {
  const written = new TextEncoder().encode(name.toLowerCase().replaceAll('-', '_'));
  if (written.length > 64) return undefined;
  let best;
  let least = Infinity;
  for (const candidate of Object.keys(operators)) {
    const distance = edits(written, new TextEncoder().encode(candidate));
    if (distance > Math.max(1, Math.floor(candidate.length / 3)) || distance >= least) continue;
    [best, least] = [candidate, distance];
  }
  return best;
}

/** The least number of insertions, removals, substitutions and swaps of neighbours that turn one into the other. */
function edits(left, right) {
  let beforeLast = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  left.forEach((byte, row) => {
    const current = [row + 1];
    right.forEach((other, column) => {
      let distance = Math.min(last[column + 1] + 1, current[column] + 1, last[column] + (byte === other ? 0 : 1));
      if (row > 0 && column > 0 && byte === right[column - 1] && left[row - 1] === other) {
        distance = Math.min(distance, beforeLast[column - 1] + 1);
      }
      current.push(distance);
    });
    [beforeLast, last] = [last, current];
  });
  return last[right.length];
}
