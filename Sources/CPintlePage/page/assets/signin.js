// SPDX-License-Identifier: Apache-2.0

// Trades the token of the link for a cookie. The token is in the fragment, which browsers send to nobody.

const message = document.getElementById('message');

function tokenIn(text) {
  const fragment = text.includes('#') ? text.slice(text.indexOf('#') + 1) : text;
  return new URLSearchParams(fragment).get('token') ?? text.trim();
}

async function signIn(token) {
  message.textContent = 'Signing in…';
  try {
    const response = await fetch('/api/session', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: token });
    if (response.ok) {
      location.replace('/');
      return;
    }
    if (response.status === 401) {
      message.textContent = 'This link is not valid (any more). The command “pintle status” prints a new one.';
      return;
    }
    const problem = await response.json().catch(() => ({}));
    message.textContent = [problem.title, problem.detail].filter(Boolean).join(': ') || `The answer has status ${response.status}.`;
  } catch {
    message.textContent = 'Pintle does not answer. It may have ended.';
  }
}

document.getElementById('form').addEventListener('submit', event => {
  event.preventDefault();
  const field = document.getElementById('link');
  signIn(tokenIn(field.value));
  field.value = '';
});

function takeFragment() {
  if (!location.hash.includes('token=')) return;
  const token = tokenIn(location.hash);
  // The token should stay neither in the address bar nor in the history.
  history.replaceState(null, '', '/');
  signIn(token);
}

// A link may be pasted into the address bar while this page is open: then only the fragment changes.
addEventListener('hashchange', takeFragment);
takeFragment();
