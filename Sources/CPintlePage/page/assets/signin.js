// SPDX-License-Identifier: Apache-2.0

// The form for the link, in place of the page.

import { signIn, takeToken, tokenIn } from './token.js';

const message = document.getElementById('message');

async function signInWith(token) {
  message.textContent = 'Signing in…';
  message.textContent = await signIn(token) ?? message.textContent;
}

document.getElementById('form').addEventListener('submit', event => {
  event.preventDefault();
  const field = document.getElementById('link');
  signInWith(tokenIn(field.value));
  field.value = '';
});

function takeLink() {
  const token = takeToken();
  if (token !== undefined) signInWith(token);
}

// A link may be pasted into the address bar while this page is open: then only the fragment changes.
addEventListener('hashchange', takeLink);
takeLink();
