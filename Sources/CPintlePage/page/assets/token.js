// SPDX-License-Identifier: Apache-2.0

// Trades the token of the link for a cookie. The token is in the fragment, which browsers send to nobody.

/** The token in a link, or in a fragment; else the text itself. */
export function tokenIn(text) {
  const fragment = text.includes('#') ? text.slice(text.indexOf('#') + 1) : text;
  return new URLSearchParams(fragment).get('token') ?? text.trim();
}

/** Takes the token out of the address; undefined if there is none. */
export function takeToken() {
  if (!location.hash.includes('token=')) return undefined;
  const token = tokenIn(location.hash);
  // The token should stay neither in the address bar nor in the history.
  history.replaceState(null, '', '/');
  return token;
}

/** Opens the page with a cookie for the token. Returns the reason if there is none. */
export async function signIn(token) {
  let response;
  try {
    response = await fetch('/api/session', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: token });
  } catch {
    return 'Pintle does not answer. It may have ended.';
  }
  if (response.ok) {
    location.replace('/');
    return undefined;
  }
  if (response.status === 401) return 'This link is not valid (any more). The command “pintle status” prints a new one.';
  const problem = await response.json().catch(() => ({}));
  return [problem.title, problem.detail].filter(Boolean).join(': ') || `The answer has status ${response.status}.`;
}
