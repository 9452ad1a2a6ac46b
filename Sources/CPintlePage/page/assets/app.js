// SPDX-License-Identifier: Apache-2.0

// Puts the parts of the page together.

import { activity, encoded, harPath, questions, signOut, whenSignedOut } from './api.js';
import { Detail } from './detail.js';
import { byId, element, say } from './dom.js';
import { Events } from './events.js';
import { FilterFault, parseFilter } from './filter.js';
import { count, visible } from './format.js';
import { Grid } from './grid.js';
import { Header } from './header.js';
import { hostsPage } from './hosts.js';
import { runningPage } from './running.js';
import { listenToKeys, showKeys } from './keys.js';
import { List } from './list.js';
import { previewFiles } from './preview.js';
import { Questions } from './questions.js';
import { routesPage } from './routes.js';
import { mostRecords, Store, View } from './store.js';
import { signIn, takeToken } from './token.js';
import { trustPage } from './trust.js';
import { unusedPage } from './unused.js';

/** Pages that are fetched, with the seconds between looks while they are seen. */
const fetched = { running: [runningPage, 1], routes: [routesPage, 2], trust: [trustPage, 10], hosts: [hostsPage, 5], unused: [unusedPage, 10] };
const onClick = (id, action) => byId(id).addEventListener('click', action);
/** The part of a frame that a filter may take for kept records, in milliseconds. */
const slice = 6;

const store = new Store();
const view = new View(store);
const header = new Header();
const bar = new Questions();
const detail = new Detail(byId('detail'), () => header.activity);
const grid = new Grid(byId('grid'), view, { changed: schedule, select: selected, open: record => openExchange(record.id) });
const list = new List(store, view, { changed: schedule, failed });
const events = new Events({
  exchange(record, characters) {
    store.append(record, characters);
    // Hidden pages get no frames, which would drop the oldest records.
    if (document.hidden && store.count > mostRecords + 2000) view.update();
    else schedule();
  },
  activity(value) { header.show(value); schedule(); },
  questions({ questions: open }) { bar.show(open); },
  lost({ count: lost }) { list.recover(lost); },
  configuration({ revision }) {
    if (header.activity) header.show({ ...header.activity, revision });
    say('Another configuration is in force');
    schedule();
  },
  state(word) {
    header.setConnection(word);
    schedule();
    // Events of activity come only while something changes.
    if (word !== 'live') return;
    activity().then(value => events.actions.activity(value), () => {});
    // A question that was closed while the connection was broken is not told of.
    questions().then(value => events.actions.questions(value), () => {});
  },
});

// Frames. There are none while the page is hidden, and one as soon as it is shown again.

let isScheduled = false;
function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    view.update();
    if (view.scan(performance.now() + slice)) schedule();
    header.render();
    if (page === 'exchanges') {
      grid.render();
      renderNotes();
    }
  });
}

function renderNotes() {
  const write = (id, text) => { if (byId(id).textContent !== text) byId(id).textContent = text; };
  const isReading = list.isLoading || !view.isComplete;
  write('counted', `${count(view.all)} ${filter.isEmpty ? 'exchanges' : 'matching'}${isReading ? '…' : ''}`);
  byId('newer').hidden = view.held === 0;
  if (view.held) write('newer', `↑ ${count(view.held)} newer`);
  byId('follow').setAttribute('aria-pressed', grid.follows);
  byId('empty').hidden = view.count > 0 || isReading;
  write('empty', filter.isEmpty ? 'Nothing has gone through the proxy yet.' : 'No kept exchange passes the filter.');
}

// Filter

let filter = parseFilter('');
let typing;

/** The list could not be read. A filter may have a fault that only the server sees. */
function failed(error) {
  if (error.problem?.place === undefined) say(visible(error.message));
  else showFault(error.problem.detail, filter.source, error.problem.place);
}

function filterChanged(wait) {
  const text = byId('filter').value;
  byId('clear').hidden = text === '';
  clearTimeout(typing);
  typing = setTimeout(() => {
    try {
      applyFilter(parseFilter(text));
      showFault(undefined);
    } catch (error) {
      if (!(error instanceof FilterFault)) throw error;
      showFault(error.message, text, error.position);
    }
  }, wait);
}

function applyFilter(next) {
  if (next.source === filter.source) return;
  filter = next;
  byId('har').setAttribute('href', harPath(next.source));
  const asked = next.needsServer ? next.source : '';
  if (asked || list.filter) {
    store.clear();
    view.reset(undefined);
    events.open(asked);
    list.load(asked);
  }
  view.reset(next.needsServer || next.isEmpty ? undefined : next.matches);
  grid.deselect();
  grid.follow();
}

/** Shows the fault below the field, with a mark at its place. */
function showFault(reason, text, position) {
  const shown = byId('fault');
  byId('filter').setAttribute('aria-invalid', reason !== undefined);
  if (reason === undefined) {
    shown.replaceChildren();
    return;
  }
  const scalars = Array.from(text);
  const part = (from, to) => visible(scalars.slice(from, to).join(''));
  // A long filter is shown around the place only.
  const from = Math.max(0, position - 40);
  shown.replaceChildren(
    element('p', {}, visible(reason, 400)),
    element('p.place', { 'aria-hidden': 'true' },
      from > 0 ? '…' : '', element('bdi', {}, part(from, position)),
      element('mark', {}, part(position, position + 1) || '\u00a0'),
      element('bdi', {}, part(position + 1, position + 40))));
}

function setFilter(text) {
  byId('filter').value = text;
  filterChanged(0);
}

byId('filter').addEventListener('input', () => filterChanged(150));
byId('filter-form').addEventListener('submit', event => {
  event.preventDefault();
  filterChanged(0);
});
onClick('clear', () => {
  setFilter('');
  byId('filter').focus();
});

// One exchange

const hashOf = id => `#x=${encoded(id)}`;

function openExchange(id) {
  if (location.hash !== hashOf(id)) location.hash = hashOf(id);
  else navigate();
}

let following;
/** An open panel follows the selection, but not through every row while a key is held down. */
function selected(record) {
  if (!detail.isOpen) return;
  clearTimeout(following);
  following = setTimeout(() => {
    history.replaceState(null, '', hashOf(record.id));
    navigate();
  }, 80);
}

function closeExchange() {
  clearTimeout(following);
  if (location.hash.startsWith('#x=')) history.pushState(null, '', '#');
  navigate();
  byId('grid').focus();
}

onClick('detail-close', closeExchange);
onClick('newer', () => {
  grid.follow();
  byId('grid').focus();
});
onClick('follow', toggleFollow);

function toggleFollow() {
  if (grid.follows) grid.hold();
  else grid.follow();
}

// Pages

let page = 'exchanges';
let refreshing;

function show(name) {
  page = name;
  clearTimeout(refreshing);
  for (const section of document.querySelectorAll('main > .page')) section.hidden = section.id !== name;
}

function navigate() {
  const hash = location.hash.slice(1);
  const name = Object.hasOwn(fetched, hash) || hash === 'preview' ? hash : 'exchanges';
  show(name);
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.page === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const id = new URLSearchParams(hash).get('x');
  if (id === null) detail.close();
  else {
    detail.open(id, store.at(store.numberOf(id)));
    if (grid.selected !== id) {
      grid.selected = id;
      view.holds = true;
    }
  }
  if (fetched[name]) refresh(name);
  if (hash === 'grid') byId('grid').focus();
  schedule();
}

async function refresh(name) {
  const [make, seconds] = fetched[name];
  const section = byId(name);
  if (!document.hidden) {
    try {
      const contents = (await make()).filter(Boolean);
      if (page === name) renew(section, contents);
    } catch (error) {
      if (page === name) section.replaceChildren(element('p.fault', {}, visible(error.message)));
    }
  }
  if (page !== name) return;
  clearTimeout(refreshing);
  refreshing = setTimeout(() => refresh(name), seconds * 1000);
}

/** Replaces contents, but not what has not changed: it may be selected, or have the focus. */
function renew(section, contents) {
  contents.forEach((content, index) => {
    const old = section.children[index];
    if (!old) section.append(content);
    else if (!old.isEqualNode(content)) {
      const [rows, newRows] = [old, content].map(node => node.querySelector(':scope > table > tbody'));
      if (rows && newRows) rows.replaceWith(newRows);
      else old.replaceWith(content);
    }
  });
  while (section.children.length > contents.length) section.lastChild.remove();
}

onClick('hosts', event => {
  const link = event.target.closest('[data-filter]');
  if (link) setFilter(link.dataset.filter);
});
onClick('sign-out', async () => {
  await signOut().catch(() => {});
  location.assign('/');
});
onClick('help', showKeys);

whenSignedOut(() => {
  events.close();
  header.setConnection('signed-out');
  show('signed-out');
  schedule();
});

const onList = action => () => { if (page === 'exchanges') action(); };
listenToKeys({
  next: onList(() => grid.move(1)),
  previous: onList(() => grid.move(-1)),
  open: onList(() => { if (grid.record) openExchange(grid.record.id); }),
  filter() {
    if (page !== 'exchanges') location.hash = '';
    byId('exchanges').hidden = false;
    byId('filter').focus();
    byId('filter').select();
  },
  follow: onList(toggleFollow),
  close() {
    if (document.activeElement === byId('filter') && byId('filter').value) setFilter('');
    else if (detail.isOpen) closeExchange();
    else if (page === 'exchanges') {
      grid.deselect();
      byId('grid').focus();
    }
  },
});

previewFiles(() => { location.hash = 'preview'; });

/** Takes a link that was pasted into the address bar: of this process, or of one that was started later. Returns false if there is none. */
function takeLink() {
  const token = takeToken();
  if (token === undefined) return false;
  signIn(token).then(reason => { if (reason !== undefined) say(visible(reason)); });
  return true;
}

addEventListener('hashchange', () => { if (!takeLink()) navigate(); });
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  schedule();
  if (fetched[page]) refresh(page);
});

takeLink();
navigate();
events.open('');
list.load('');
