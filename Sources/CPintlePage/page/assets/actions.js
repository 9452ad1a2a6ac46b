// SPDX-License-Identifier: Apache-2.0

// An exchange as something to paste: a command, a policy test, a rule.

import { element, openDialog, say } from './dom.js';

const unprintable = /[\x00-\x1f\x7f-\x9f]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Text as one word of a shell. Unprintable characters are escaped, so that what is pasted is what is seen. */
export function shellWord(text) {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!unprintable.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const bytes = new TextEncoder().encode(text.replaceAll('\0', ''));
  const isPlain = byte => byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c;
  return `$'${Array.from(bytes, byte => (isPlain(byte) ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`)).join('')}'`;
}

/** A value as JSON that is also YAML: what is not seen, or ends a line there, is escaped; it stands in strings alone. */
export function yamlValue(value) {
  return JSON.stringify(value).replace(/[\x7f-\x9f]|[\p{Cf}\p{Zl}\p{Zp}]/gu, character =>
    Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''));
}
/** Text between quotation marks, for YAML. */
export const yamlText = text => yamlValue(String(text));
const yamlWord = text => (/^[A-Za-z][\w.-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) ? text : yamlText(text));

const isToken = name => /^[\w!#$%&'*+.^`|~-]+$/.test(name);
/** Fields of a connection, or that the client writes by itself. */
const ownFields = /^(host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;
const isHidden = value => value.includes('***');

/** The first address that the proxy listens on and that a client can name, as the client would write it. */
export function proxyOf(activity) {
  for (const listener of activity?.listeners ?? []) {
    const parts = /^(?:(https?):\/\/)?((?:\[[^\]]*\]|[^\s:/[\]]+):\d+)$/.exec(listener);
    if (parts) return `${parts[1] ?? 'http'}://${parts[2].replace(/^(0\.0\.0\.0|\[::\])(?=:)/, location.hostname)}`;
  }
  return undefined;
}

/** True if there is something to send again, or to decide about: the request could be read, and is for more than the proxy. */
export const hasTarget = record => Boolean(record.url || (record.method === 'CONNECT' && record.host));

/** The field names of a message, in lowercase. */
const namesOf = fields => new Set(fields.map(([name]) => name.toLowerCase()));

/** The kept content of a request; undefined if none of it was kept, or a part alone. */
const wholeBody = request => (request?.body && !request.body.truncated ? request.body : undefined);

/** True if the request had content that was not kept whole, so that a command lacks it. */
export const lacksContent = ({ record, request }) =>
  record.method !== 'CONNECT' && record.method !== 'HEAD' && record.status !== 101 && record.bytes_in > 0 && !wholeBody(request);

/** The most characters of content within a command: Linux takes 128 KiB for one word, and a character has up to four bytes. */
const mostInline = 30_000;

/** Content that no word of a shell can have, in base64: bytes, zeros, and very long text. */
function pipedContent({ text, base64 }) {
  if (text === undefined) return base64;
  if (!text.includes('\0') && text.length <= mostInline) return undefined;
  return btoa(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(''));
}

/** The name for which the proxy has taken the client. curl asks for the password of a user; a tag has none. */
const proxyUser = ({ user, tag }) => (user ? [user, tag].filter(Boolean).join('+') : tag && `${tag}:`);

export function asCurl({ record, request }, proxy) {
  const words = ['curl', '--globoff'];
  const isForGateway = record.url?.startsWith('/') ?? false;
  if (proxy && !isForGateway) {
    words.push('--proxy', proxy);
    const name = proxyUser(record);
    if (name) words.push('--proxy-user', name);
  }
  if (record.method === 'CONNECT') return [...words, '--proxytunnel', `https://${record.url ?? record.host}/`].map(shellWord).join(' ');
  const isHead = record.method === 'HEAD';
  const body = isHead ? undefined : wholeBody(request);
  // With data curl would send a POST, and refuses it beside --head.
  const hasData = body !== undefined && (record.method !== 'GET' || body.text !== '');
  const piped = hasData ? pipedContent(body) : undefined;
  // Without it curl resolves dot segments, and asks for another resource.
  if (/\/(\.|%2e){1,2}(?![^/?#])/i.test(record.url ?? '')) words.push('--path-as-is');
  if (isHead) words.push('--head');
  else if (record.method && (record.method !== 'GET' || hasData)) words.push('--request', record.method);
  // The gateway chooses by the Host.
  if (isForGateway && proxy && record.host) words.push('--header', `Host: ${record.host}`);
  for (const [name, value] of request?.fields ?? []) {
    // Kept content has no content coding any more.
    if (!isToken(name) || ownFields.test(name) || (hasData && name.toLowerCase() === 'content-encoding')) continue;
    words.push('--header', value === '' ? `${name};` : `${name}: ${value}`);
  }
  if (request?.fields) {
    const names = namesOf(request.fields);
    for (const name of ['User-Agent', 'Accept', ...(hasData ? ['Content-Type'] : [])]) {
      // curl sends these of itself.
      if (!names.has(name.toLowerCase())) words.push('--header', `${name}:`);
    }
  }
  if (piped !== undefined) words.push('--data-binary', '@-');
  else if (hasData) words.push('--data-raw', body.text);
  words.push('--url', isForGateway ? `${proxy ?? `http://${record.host ?? ''}`}${record.url}` : record.url ?? '');
  const command = words.map(shellWord).join(' ');
  return piped === undefined ? command : `printf %s ${shellWord(piped)} | base64 --decode | ${command}`;
}

/** Kinds of violations that are found in the response. */
const isOfResponse = kind => kind.startsWith('response-') || kind === 'body-too-large';

/** A policy test (`pintle test`) that holds the decision about this exchange. */
export function asTest({ record, request, response, sent }) {
  const words = { allow: 'is allowed', 'would-deny': 'would be denied', deny: 'is denied', reject: 'is rejected' };
  const word = words[record.decision] ?? 'is answered';
  const map = entries => `{${entries.filter(([, value]) => value !== undefined).map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
  const fields = new Map();
  for (const [name, value] of request?.fields ?? []) {
    if (isToken(name) && !ownFields.test(name) && !isHidden(value) && !fields.has(name.toLowerCase())) {
      fields.set(name.toLowerCase(), [yamlWord(name), yamlText(value)]);
    }
  }
  // The gateway chooses by the Host.
  if (record.url?.startsWith('/') && record.host) fields.set('host', ['Host', yamlText(record.host)]);
  const contentType = response?.fields?.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const found = (record.violations ?? []).filter(isOfResponse);
  // The test has no content of the response. It finds neither what this has decided, nor that empty content has no type.
  const isFoundAgain = kind => kind === 'response-status' || (kind === 'response-content-type' && contentType !== undefined);
  const violations = found.every(isFoundAgain) ? found : [];
  // A test has neither the origin's chain nor its failure, so it expects nothing that they decided.
  const isOfOrigin = (record.decision === 'reject' && violations.length === 0) || (record.decision === 'error' && record.status >= 500);
  const problem = record.decision === 'deny' && record.rule?.startsWith('destinations') ? 'destination-denied' : undefined;
  const lines = [
    // Tests of one file have different names.
    `- name: ${yamlText(`${record.method ?? ''} ${record.url ?? record.host ?? ''} ${word}`)}`,
    `  request: ${map([
      ['method', record.method && yamlWord(record.method)],
      ['url', yamlText(record.method === 'CONNECT' ? `https://${record.url ?? record.host}/` : record.url ?? '')],
      ['headers', fields.size ? map(Array.from(fields.values())) : undefined],
      ['json', jsonOf(request)],
      ['client', record.user ?? record.tag ? map([['user', record.user && yamlText(record.user)], ['tag', record.tag && yamlText(record.tag)]]) : undefined],
    ])}`,
    `  expect: ${map([
      ['decision', isOfOrigin ? undefined : record.decision && yamlWord(record.decision)],
      ['rule', record.rule && yamlText(record.rule)],
      ['route', record.route ? yamlWord(record.route) : 'absent'],
      ['upstream', sent?.url && sent.url !== record.url ? yamlText(sent.url) : undefined],
      ['trust', record.trust && yamlWord(record.trust)],
      ['problem', problem],
    ])}`,
  ];
  if (violations.length) {
    lines.push(`  response: ${map([
      ['status', record.upstream_status ?? record.status],
      ['headers', contentType === undefined ? undefined : `{Content-Type: ${yamlText(contentType)}}`],
    ])}`);
    lines.push(`  violations: [${violations.map(yamlWord).join(', ')}]`);
  }
  return `${lines.join('\n')}\n`;
}

function jsonOf(request) {
  const body = request?.body;
  if (body?.text === undefined || body.truncated || isHidden(body.text)) return undefined;
  try {
    const value = JSON.parse(body.text);
    return value !== null && typeof value === 'object' ? yamlValue(value) : undefined;
  } catch {
    return undefined;
  }
}

/** A line for the configuration that allows or denies the destination. */
export function asRule(record, list) {
  return `destinations: {${list}: [${yamlText(record.host ?? record.url ?? '')}]}\n`;
}

export async function copy(what, text) {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}`);
  } catch {
    // Not every origin may use the clipboard: only loopback and https.
    const area = element('textarea', { readonly: true, rows: 8, 'aria-label': what });
    area.value = text;
    openDialog(`Copy ${what}`, area);
    area.select();
  }
}
