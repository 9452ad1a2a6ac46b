// SPDX-License-Identifier: Apache-2.0

// Requests to the endpoint that this page came from.

/** A refusal: `problem` is the answer's application/problem+json. */
export class Refusal extends Error {
  constructor(status, problem) {
    super([problem.title, problem.detail].filter(Boolean).join(': ') || `the answer has status ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

/** Called when the endpoint does not know this browser any more. */
let onSignedOut = () => {};
export function whenSignedOut(action) { onSignedOut = action; }

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { cache: 'no-store', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal(0, { title: 'Pintle does not answer', detail: 'it may have ended; this page tries again by itself' });
  }
  if (response.ok) return response.status === 204 ? undefined : response.json();
  const problem = await response.json().catch(() => ({ title: `the answer has status ${response.status}` }));
  if (response.status === 401) onSignedOut();
  throw new Refusal(response.status, problem);
}

/** An id as a part of an address. A lone surrogate has no encoding. */
export const encoded = id => encodeURIComponent(String(id).replace(/\p{Cs}/gu, '\ufffd'));

const query = values => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  return given.length ? `?${new URLSearchParams(given)}` : '';
};

export const activity = () => request('/api/activity');
export const exchanges = ({ limit, filter, before }, signal) => request(`/api/exchanges${query({ limit, filter, before })}`, { signal });
export const exchange = (id, signal) => request(`/api/exchanges/${encoded(id)}`, { signal });
export const routes = () => request('/api/routes');
export const trust = () => request('/api/trust');
export const hosts = () => request('/api/hosts');
export const running = () => request('/api/running');
export const eventsPath = filter => `/api/events${query({ filter })}`;
export const harPath = filter => `/api/har${query({ filter })}`;

/** How the configuration in force decides. The client is named by `user` and `tag`, not by its Proxy-Authorization. */
export function explain(method, url, fields, { user, tag }) {
  const values = new URLSearchParams([
    ['method', method], ['url', url],
    ...fields.filter(([name]) => !/^proxy-authorization$/i.test(name)).map(([name, value]) => ['header', `${name}: ${value}`]),
    ...Object.entries({ user, tag }).filter(([, value]) => value !== undefined),
  ]);
  return request(`/api/explain?${values}`);
}

export const reload = revision => request('/api/reload', { method: 'POST', headers: { 'If-Match': `"${revision}"` } });
export const preview = text => request('/api/preview', { method: 'POST', headers: { 'Content-Type': 'application/yaml' }, body: text });
export const purge = selection => request('/api/purge', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(selection) });
export const questions = () => request('/api/questions');
export const answer = (id, word, scope) => request(`/api/questions/${encoded(id)}`,
  { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ answer: word, for: scope }) });
export const signOut = () => request('/api/session', { method: 'DELETE' });
