// SPDX-License-Identifier: Apache-2.0

// The policies of trust: until when their pins are sure to match, and which backups nobody has seen yet.

import { trust } from './api.js';
import { chip, drawing, element, shown, table, verdictChip } from './dom.js';
import { count, day, daysUntil, moment, visible } from './format.js';

export async function trustPage() {
  const { policies } = await trust();
  return [
    element('h2', {}, 'Trust'),
    policies.length === 0 ? element('p', {}, 'The configuration has no trust policies: the roots of the system decide.') : null,
    ...policies.map(policy => element('article.policy', {},
      element('h3', {}, shown(policy.name, 100), ' ', element('span.note', {}, pinningText(policy.pinning))),
      element('p.dim', {}, shown((policy.hosts ?? []).join(', ') || 'named by routes', 1000)),
      forecast(policy),
      policy.pins?.length ? element('ul.pins', {}, policy.pins.map(pin => element('li', {},
        element('code', {}, visible(pin.pin, 100)), ' ',
        pin.seen ? chip(`seen${pin.position ? `: ${visible(pin.position, 32)}` : ''}`, 'pinned') : chip('never seen', 'unused')))) : null,
      policy.uses?.length ? table(`Hosts judged by ${visible(policy.name, 100)}`, ['Host', 'Verdict', 'Last', 'Certificate'],
        policy.uses.map(use => [
          visible(use.host, 300),
          element('span', {}, verdictChip(use.verdict), ' ', shown(use.error, 600)),
          moment(use.at),
          use.not_after ? `until ${day(use.not_after)}` : '',
        ])) : element('p.dim', {}, 'No host has been judged by it yet.'))),
  ];
}

const pinningText = pinning => ({ public_key: 'pins public keys', certificate: 'pins certificates' }[pinning] ?? 'does not pin');

/** The time until no pin is sure to match, as a part of the next year. */
function forecast({ forecast: end, expires }) {
  if (!end && !expires) return null;
  const [first, text] = !end || expires && expires <= end ? [expires, `The pins expire on ${day(expires)}`] : [end, `From ${day(end)} on, no pin is sure to match`];
  const days = daysUntil(first);
  const share = Math.min(Math.max(days / 365, 0), 1) * 100;
  const kind = days < 30 ? 'bad' : days < 90 ? 'soon' : 'good';
  return element('div.forecast', {},
    drawing('svg', { class: 'bar', 'aria-hidden': 'true' },
      drawing('rect', { class: 'track', width: '100%', height: '100%', rx: 2 }),
      drawing('rect', { class: kind, width: `${share}%`, height: '100%', rx: 2 })),
    element('span', { class: kind }, days < 0 ? `${text}: ${count(-days)} days ago` : `${text}: in ${count(days)} days`));
}
