// SPDX-License-Identifier: Apache-2.0

// The bar with the questions about destinations, which requests wait for.

import { answer } from './api.js';
import { byId, element, isolated, say, shown } from './dom.js';
import { visible } from './format.js';

/** The buttons: what they say, and what they answer. */
const answers = [
  ['Allow once', 'allow', 'once'], ['Allow for this run', 'allow', 'run'], ['Deny once', 'deny', 'once'], ['Deny for this run', 'deny', 'run'],
];

export class Questions {
  constructor() {
    this.bar = byId('questions');
    this.items = new Map();
  }

  /** Shows these questions. One that is shown already keeps its buttons, which may have the focus. */
  show(questions) {
    const ids = new Set(questions.map(question => question.id));
    for (const [id, item] of this.items) if (!ids.has(id)) this.remove(id, item);
    const news = questions.filter(question => !this.items.has(question.id));
    for (const question of news) {
      const item = this.item(question);
      this.items.set(question.id, item);
      byId('question-list').append(item);
    }
    for (const question of questions) this.items.get(question.id).querySelector('.waiting').textContent = this.waiting(question);
    this.bar.hidden = questions.length === 0;
    // The bar is no live region: that would read out its buttons, too.
    if (news.length) say(`${visible(news[0].host, 300)} waits for an answer`);
  }

  waiting({ waiting }) { return waiting > 1 ? `${waiting} requests wait` : ''; }

  item(question) {
    const program = question.process ? ` by ${question.process} (${question.pid})` : '';
    return element('li', {},
      element('p', {}, 'May requests go to ', element('strong', {}, shown(question.host, 300)), '?'),
      element('p.dim', {}, isolated(visible(`${question.method} ${question.url}${program}`, 500)), ' · ', shown(question.rule, 300), ' ',
        element('span.waiting', {})),
      element('div.buttons', { role: 'group', 'aria-label': `An answer for ${visible(question.host, 300)}` },
        answers.map(([words, word, scope]) => element('button', { type: 'button', click: () => this.answer(question, word, scope) }, words))));
  }

  remove(id, item) {
    const hadFocus = item.contains(document.activeElement);
    this.items.delete(id);
    item.remove();
    if (hadFocus) (byId('question-list').querySelector('button') ?? byId('grid')).focus();
  }

  async answer(question, word, scope) {
    try {
      await answer(question.id, word, scope);
      say(`${visible(question.host, 300)} is ${word === 'allow' ? 'allowed' : 'denied'} ${scope === 'once' ? 'once' : 'for this run'}`);
    } catch (error) {
      say(visible(error.message));
    }
  }
}
