// SPDX-License-Identifier: Apache-2.0

// Keys as in mail programs.

import { element, openDialog } from './dom.js';

const setting = 'pintle.letters';
const lettersAreKeys = () => localStorage.getItem(setting) !== 'off';

const texts = [
  [['j', '↓'], 'next exchange'], [['k', '↑'], 'previous exchange'], [['Enter'], 'open the exchange'], [['Esc'], 'close it; in the filter, clear it'],
  [['/'], 'go to the filter'], [['f'], 'follow the newest on and off'], [['PgUp', 'PgDn', 'Home', 'End'], 'move further'], [['?'], 'this list'],
];

/** @param actions - functions by name: `next`, `previous`, `open`, `close`, `filter`, `follow`. */
export function listenToKeys(actions) {
  const letters = { j: actions.next, k: actions.previous, '/': actions.filter, f: actions.follow, '?': showKeys };
  addEventListener('keydown', event => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    const isTyping = event.target.closest?.('input:not([type=checkbox]), textarea, select');
    if (event.key === 'Escape') {
      actions.close();
      return;
    }
    if (isTyping) return;
    // On a link or a button Enter is theirs.
    if (event.key === 'Enter' && !event.target.closest?.('a, button, summary')) {
      event.preventDefault();
      actions.open();
    } else if (Object.hasOwn(letters, event.key) && lettersAreKeys()) {
      event.preventDefault();
      letters[event.key]();
    }
  });
}

export function showKeys() {
  // Letters as keys are in the way of those who speak to their machine.
  const choice = element('input', { type: 'checkbox', id: 'letters', change: event => localStorage.setItem(setting, event.target.checked ? 'on' : 'off') });
  choice.checked = lettersAreKeys();
  openDialog('Keys',
    element('dl.keys', {}, texts.map(([keys, text]) => element('div', {},
      element('dt', {}, keys.map(key => element('kbd', {}, key))), element('dd', {}, text)))),
    element('p', {}, choice, ' ', element('label', { for: 'letters' }, 'Letters are keys')));
}
